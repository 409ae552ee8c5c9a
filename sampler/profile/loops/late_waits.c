#include "late_waits.h"

#include "../../capture/system/memory.h"
#include "../outside/thread_names.h"
#include "../wall/task_files.h"
#include "futex_holder.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void read_link(int32_t pid, int32_t descriptor, char *out, size_t bytes)
{
    char link[64];
    ssize_t got;

    snprintf(link, sizeof(link), "/proc/%" PRId32 "/fd/%" PRId32, pid, descriptor);
    got = readlink(link, out, bytes - 1);
    out[got > 0 ? got : 0] = 0;
}

static void note_descriptor(struct late_wait *wait, int32_t pid, int32_t descriptor)
{
    if (descriptor < 0)
        return;
    wait->descriptor = descriptor;
    read_link(pid, descriptor, wait->path, sizeof(wait->path));
}

static void note_path(struct late_wait *wait, int32_t pid, uint64_t address)
{
    long got = memory_read_some(pid, wait->path, address, sizeof(wait->path) - 1);

    wait->path[got > 0 ? got : 0] = 0;
}

/* Waits for several are for whatever comes first: only one alone is worth telling. */
static void note_polled(struct late_wait *wait, int32_t pid, const struct blocked *blocked)
{
    struct pollfd polled;

    if (blocked->arguments[1] == 1 &&
        memory_read(pid, &polled, blocked->arguments[0], sizeof(polled)))
        note_descriptor(wait, pid, polled.fd);
}

/* The numbers of a pid namespace of the program's own are none of ours. */
static void note_child(struct late_wait *wait, const struct late_program *program, uint64_t child)
{
    if ((int32_t)child <= 0)
        return;
    wait->holder_tid = (int32_t)child;
    if (program->numbers_here)
        thread_name_read(wait->holder_tid, wait->holder_tid, wait->holder);
}

/* The thread by its number here; 0: there is none. */
static int32_t tid_here(const struct late_program *program, int32_t tid)
{
    char path[64];

    if (tid <= 0)
        return 0;
    if (!program->numbers_here)
        return task_number_here(program->pid, tid);
    snprintf(path, sizeof(path), "/proc/%" PRId32 "/task/%" PRId32, program->pid, tid);
    return access(path, F_OK) == 0 ? tid : 0;
}

static bool read_memory(const void *context, uint64_t address, void *out, size_t bytes)
{
    const struct late_program *program = context;

    return memory_read(program->pid, out, address, bytes);
}

static bool has_thread(const void *context, int32_t tid)
{
    return tid_here(context, tid);
}

static void note_holder(struct late_wait *wait, const struct late_program *program,
                        const struct blocked *blocked)
{
    const struct futex_view view = { read_memory, has_thread, program };
    int32_t tid = futex_holder(&view, blocked), here;

    if (tid == wait->holder_tid)
        return;
    wait->holder_tid = tid;
    wait->holder[0] = 0;
    here = tid_here(program, tid);
    if (here)
        thread_name_read(program->pid, here, wait->holder);
}

/* What the call's arguments say, once: they do not change while it waits. */
static void describe(struct late_wait *wait, const struct late_program *program,
                     const struct blocked *blocked)
{
    const uint64_t *arguments = blocked->arguments;
    int32_t pid = program->pid;

    switch (wait->call->says) {
    case CALL_SAYS_DESCRIPTOR:
        note_descriptor(wait, pid, (int32_t)arguments[0]);
        break;
    case CALL_SAYS_POLLED:
        note_polled(wait, pid, blocked);
        break;
    case CALL_SAYS_PATH:
        note_path(wait, pid, arguments[0]);
        break;
    case CALL_SAYS_PATH_AT:
        note_path(wait, pid, arguments[1]);
        break;
    case CALL_SAYS_CHILD:
        note_child(wait, program, arguments[0]);
        break;
    case CALL_SAYS_CHILD_OR_FD:
        if (arguments[0] == P_PID)
            note_child(wait, program, arguments[1]);
        break;
    default:
        break;
    }
}

static enum call_waits waits_of(const struct system_call *call, const struct blocked *blocked)
{
    bool nothing = (call->says == CALL_SAYS_POLLED && !blocked->arguments[1]) ||
                   (call->says == CALL_SAYS_SELECTED && !blocked->arguments[0]);

    return nothing ? CALL_WAITS_SLEEP : call->waits;
}

/* The one among those seen before; else a new place, which may have been the rarest one's. */
static struct late_wait *place_of(struct late_waits *waits, const struct blocked *blocked,
                                  uint64_t on, bool *is_new)
{
    struct late_wait *place = &waits->list[0];

    *is_new = false;
    for (uint32_t i = 0; i < waits->count; i++) {
        struct late_wait *wait = &waits->list[i];

        if (wait->number == blocked->number && wait->on == on)
            return wait;
        if (wait->for_ns < place->for_ns)
            place = wait;
    }
    *is_new = true;
    return waits->count < LATE_WAITS_MAX ? &waits->list[waits->count++] : place;
}

struct late_wait *late_waits_add(struct late_waits *waits, const struct late_program *program,
                                 const struct blocked *blocked, uint64_t for_ns)
{
    const struct system_call *call = system_call_of(blocked->number);
    bool second = call->says == CALL_SAYS_PATH_AT || call->says == CALL_SAYS_CHILD_OR_FD, is_new;
    struct late_wait *wait = place_of(waits, blocked, blocked->arguments[second], &is_new);

    if (is_new) {
        *wait = (struct late_wait){ .call = call,
                                    .number = blocked->number,
                                    .on = blocked->arguments[second],
                                    .waits = waits_of(call, blocked),
                                    .descriptor = -1 };
        describe(wait, program, blocked);
    }
    if (call->says == CALL_SAYS_WORD)
        note_holder(wait, program, blocked);
    wait->for_ns += for_ns;
    return wait;
}

void late_waits_tell(const struct late_waits *waits, struct stall_evidence *out)
{
    const struct late_wait *longest = NULL;

    for (uint32_t i = 0; i < waits->count; i++)
        if (!longest || waits->list[i].for_ns > longest->for_ns)
            longest = &waits->list[i];
    if (!longest)
        return;
    if (longest->number >= 0 && !longest->call->name[0])
        snprintf(out->system_call, sizeof(out->system_call), "call %u", (unsigned)longest->number);
    else
        snprintf(out->system_call, sizeof(out->system_call), "%s", longest->call->name);
    out->descriptor = longest->descriptor;
    memcpy(out->path, longest->path, sizeof(out->path));
    out->holder_tid = longest->holder_tid;
    memcpy(out->holder, longest->holder, sizeof(out->holder));
}
