#include "dump_shown.h"

#include "../console/log_line.h"
#include "../console/status.h"
#include "deadlocks.h"

#include "../../protocol/text/json_writer.h"
#include "../../sampler/profile/address_symbolizer.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TID_BYTES = 16, PLACE_BYTES = 64 };

struct dump {
    const struct thread_stacks *stacks;
    const struct dump_shown *shown;
    struct address_symbolizer *symbolizer;
    struct symbolized symbolized; /* of one frame at a time: it is large */
    uint32_t *ring;
};

static bool is_shown(const struct dump *dump, const struct stack_thread *thread)
{
    const char *pattern = dump->shown->threads;
    char tid[TID_BYTES];

    snprintf(tid, sizeof(tid), "%d", (int)thread->tid);
    return !pattern || !strcmp(pattern, tid) || fnmatch(pattern, thread->name, 0) == 0;
}

static const char *name_of_path(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static void find_names(struct dump *dump, const struct stack_frame *frame)
{
    const struct stack_module *module =
        frame->module == STACKS_NO_MODULE ? NULL : &dump->stacks->modules[frame->module];
    char build_id[2 * STACKS_BUILD_ID_MAX + 1] = "";

    dump->symbolized.count = 0;
    if (!module)
        return;
    for (uint32_t i = 0; i < module->build_id_bytes; i++)
        snprintf(build_id + 2 * i, 3, "%02x", module->build_id[i]);
    if (symbolize_address(dump->symbolizer, module->file ? module->file : module->path, build_id,
                          frame->offset, &dump->symbolized) < 0)
        dump->symbolized.count = 0;
}

static const char *file_of(const struct symbolized_frame *frame)
{
    return frame->file ? frame->file : frame->function.file;
}

/* "module+0x1a2b", or the address where it is in no module. */
static void bare_name(const struct dump *dump, const struct stack_frame *frame,
                      char out[PLACE_BYTES])
{
    if (frame->module == STACKS_NO_MODULE)
        snprintf(out, PLACE_BYTES, "0x%" PRIx64, frame->pc);
    else
        snprintf(out, PLACE_BYTES, "%.40s+0x%" PRIx64,
                 name_of_path(dump->stacks->modules[frame->module].path), frame->offset);
}

static const char *const found_words[] = {
    [STACK_FOUND] = "",
    [STACK_FRAME_POINTER] = "  (by a frame pointer)",
    [STACK_RETURN_ADDRESS] = "  (by a return address on the stack: may be an old one)",
};

static void print_frame(const struct dump *dump, const char *mark, const char *name,
                        const char *module, const struct symbolized_frame *named,
                        enum stack_found found)
{
    bool line = named && named->line && file_of(named) && !dump->shown->no_lines;

    printf("  %4s  %s", mark, name);
    if (module)
        printf("  [%s]", module);
    if (line)
        printf("  %s:%" PRIu32, name_of_path(file_of(named)), named->line);
    printf("%s%s\n", named && named->inlined ? "  (inlined)" : "", found_words[found]);
}

static void print_place(struct dump *dump, const struct stack_thread *thread, uint32_t place)
{
    const struct stack_frame *frame = &thread->frames[place];
    const char *module = frame->module == STACKS_NO_MODULE
                             ? NULL
                             : name_of_path(dump->stacks->modules[frame->module].path);
    char mark[TID_BYTES], bare[PLACE_BYTES];

    find_names(dump, frame);
    snprintf(mark, sizeof(mark), "%" PRIu32, place);
    for (uint32_t i = 0; i < dump->symbolized.count; i++)
        print_frame(dump, i + 1 == dump->symbolized.count ? mark : "",
                    dump->symbolized.frames[i].function.full_name, module,
                    &dump->symbolized.frames[i], frame->found);
    if (dump->symbolized.count)
        return;
    bare_name(dump, frame, bare);
    print_frame(dump, mark, bare, NULL, NULL, frame->found);
}

static const char *state_word(char state)
{
    switch (state) {
    case 'R':
        return "runs";
    case 'S':
        return "sleeps";
    case 'D':
        return "sleeps uninterruptibly";
    case 'T':
        return "is stopped";
    case 'Z':
    case 'X':
        return "has ended";
    default:
        return "was";
    }
}

/* A core file has no names of threads. */
static void print_name(const char *before, const struct stack_thread *thread)
{
    printf("%s%d", before, (int)thread->tid);
    if (thread->name[0])
        printf(" \"%s\"", thread->name);
}

static void print_thread(struct dump *dump, const struct stack_thread *thread)
{
    printf("\n");
    print_name("thread ", thread);
    if (thread->lock_owner)
        printf(": waits for %s", thread->waits);
    else if (thread->waits[0])
        printf(": %s in %s", thread->state ? state_word(thread->state) : "waits", thread->waits);
    else if (thread->state)
        printf(": %s", state_word(thread->state));
    if (thread->stopped_ns)
        printf(" (was stopped for %.0f us)", (double)thread->stopped_ns / 1e3);
    printf("\n");
    for (uint32_t i = 0; i < thread->depth; i++)
        print_place(dump, thread, i);
    if (!thread->complete)
        printf("        -- it ends here: %s\n", thread->why);
}

static void print_deadlocks(const struct dump *dump)
{
    const struct thread_stacks *stacks = dump->stacks;

    for (uint32_t i = 0; i < stacks->thread_count; i++) {
        uint32_t count = deadlock_from(stacks, i, dump->ring);

        if (!count)
            continue;
        for (uint32_t j = 0; j < count; j++)
            print_name(!j       ? "deadlock: thread "
                       : j == 1 ? " waits for "
                                : ", which waits for ",
                       &stacks->threads[dump->ring[j]]);
        printf("%s waits for %d\n", count == 1 ? "" : ", which", (int)stacks->threads[i].tid);
    }
}

static uint32_t count_shown(const struct dump *dump)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < dump->stacks->thread_count; i++)
        count += is_shown(dump, &dump->stacks->threads[i]);
    return count;
}

static void print_text(struct dump *dump)
{
    const struct thread_stacks *stacks = dump->stacks;

    printf("process %d (%s): %" PRIu32 " %s, read in %.1f ms\n", (int)stacks->pid, stacks->exe,
           stacks->thread_count, stacks->thread_count == 1 ? "thread" : "threads",
           (double)stacks->took_ns / 1e6);
    if (stacks->signal)
        printf("ended by signal %d (%s), which thread %d got\n", stacks->signal,
               strsignal(stacks->signal), (int)stacks->threads[0].tid);
    if (stacks->missing_bytes)
        printf("the core file is cut off: its last %" PRIu64 " bytes are missing\n",
               stacks->missing_bytes);
    print_deadlocks(dump);
    for (uint32_t i = 0; i < stacks->thread_count; i++)
        if (is_shown(dump, &stacks->threads[i]))
            print_thread(dump, &stacks->threads[i]);
}

static void put_text(struct json_text *text, const char *before, const char *value)
{
    if (!value || !value[0])
        return;
    json_text_raw(text, before, strlen(before));
    json_text_string(text, value);
}

static void put_bool(struct json_text *text, const char *before, bool value)
{
    json_text_raw(text, before, strlen(before));
    json_text_raw(text, value ? "true" : "false", value ? 4 : 5);
}

/* "": by unwind data. */
static const char *const found_names[] = {
    [STACK_FOUND] = "",
    [STACK_FRAME_POINTER] = "framePointer",
    [STACK_RETURN_ADDRESS] = "returnAddress",
};

static void put_frame(struct dump *dump, struct json_text *text, const struct stack_frame *frame,
                      const struct symbolized_frame *named)
{
    char bare[PLACE_BYTES];

    bare_name(dump, frame, bare);
    put_text(text, "{\"function\":", named ? named->function.full_name : bare);
    if (frame->module != STACKS_NO_MODULE) {
        put_text(text, ",\"library\":", name_of_path(dump->stacks->modules[frame->module].path));
        put_text(text, ",\"path\":", dump->stacks->modules[frame->module].path);
        json_text_member(text, ",\"offset\":", (int64_t)frame->offset);
    }
    if (named && !dump->shown->no_lines) {
        put_text(text, ",\"file\":", file_of(named));
        if (named->line)
            json_text_member(text, ",\"line\":", named->line);
    }
    if (named && named->inlined)
        put_bool(text, ",\"inlined\":", true);
    put_text(text, ",\"found\":", found_names[frame->found]);
    json_text_literal(text, "}");
}

static void put_thread(struct dump *dump, struct json_text *text, const struct stack_thread *thread)
{
    const char state[2] = { thread->state, '\0' };
    bool any = false;

    json_text_member(text, "{\"tid\":", thread->tid);
    put_text(text, ",\"thread\":", thread->name);
    put_text(text, ",\"state\":", state);
    put_text(text, ",\"waits\":", thread->waits);
    if (thread->lock_owner)
        json_text_member(text, ",\"lockOwner\":", thread->lock_owner);
    if (thread->stopped_ns)
        json_text_member(text, ",\"stoppedMicros\":", (int64_t)(thread->stopped_ns + 999) / 1000);
    put_bool(text, ",\"whole\":", thread->complete);
    put_text(text, ",\"why\":", thread->why);
    json_text_literal(text, ",\"frames\":[");
    for (uint32_t i = 0; i < thread->depth; i++) {
        find_names(dump, &thread->frames[i]);
        for (uint32_t j = 0; j < dump->symbolized.count || (!j && !dump->symbolized.count); j++) {
            json_text_comma(text, &any);
            put_frame(dump, text, &thread->frames[i],
                      dump->symbolized.count ? &dump->symbolized.frames[j] : NULL);
        }
    }
    json_text_literal(text, "]}");
}

static void put_deadlocks(const struct dump *dump, struct json_text *text)
{
    bool any = false;

    json_text_literal(text, ",\"deadlocks\":[");
    for (uint32_t i = 0; i < dump->stacks->thread_count; i++) {
        uint32_t count = deadlock_from(dump->stacks, i, dump->ring);

        if (!count)
            continue;
        json_text_comma(text, &any);
        json_text_literal(text, "[");
        for (uint32_t j = 0; j < count; j++)
            json_text_member(text, j ? "," : "", dump->stacks->threads[dump->ring[j]].tid);
        json_text_literal(text, "]");
    }
    json_text_literal(text, "]");
}

static int print_json(struct dump *dump)
{
    const struct thread_stacks *stacks = dump->stacks;
    struct json_text text = { 0 };
    bool any = false, good;

    json_text_member(&text, "{\"type\":\"isoscope.dump\",\"pid\":", stacks->pid);
    put_text(&text, ",\"executable\":", stacks->exe);
    if (stacks->signal)
        json_text_member(&text, ",\"signal\":", stacks->signal);
    if (stacks->missing_bytes)
        json_text_member(&text, ",\"missingBytes\":", (int64_t)stacks->missing_bytes);
    json_text_member(&text, ",\"micros\":", (int64_t)stacks->took_ns / 1000);
    put_deadlocks(dump, &text);
    json_text_literal(&text, ",\"threads\":[");
    for (uint32_t i = 0; i < stacks->thread_count; i++) {
        if (!is_shown(dump, &stacks->threads[i]))
            continue;
        json_text_comma(&text, &any);
        put_thread(dump, &text, &stacks->threads[i]);
    }
    json_text_literal(&text, "]}\n");
    good = !text.failed && fwrite(text.data, 1, text.length, stdout) == text.length;
    json_text_free(&text);
    return good ? STATUS_OK : STATUS_NOTHING;
}

int dump_show(const struct thread_stacks *stacks, const struct dump_shown *shown)
{
    struct dump *dump = calloc(1, sizeof(*dump));
    int status = STATUS_NOTHING;

    if (dump)
        *dump = (struct dump){ .stacks = stacks,
                               .shown = shown,
                               .ring = calloc(stacks->thread_count, sizeof(uint32_t)) };
    if (!dump || !dump->ring || address_symbolizer_new(&dump->symbolizer, shown->no_lines) < 0) {
        log_line("dump: there is no memory");
    } else if (!count_shown(dump)) {
        log_line("dump: process %d has no thread called '%s'", (int)stacks->pid, shown->threads);
    } else {
        status = STATUS_OK;
        if (shown->json)
            status = print_json(dump);
        else
            print_text(dump);
        if (fflush(stdout) != 0)
            status = STATUS_NOTHING;
    }
    if (dump) {
        address_symbolizer_free(dump->symbolizer);
        free(dump->ring);
    }
    free(dump);
    return status;
}
