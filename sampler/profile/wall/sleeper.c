#include "sleeper.h"

#include "sleeper_scan.h"

#include "../../capture/system/memory.h"
#include "../../capture/threads/thread_annotations.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>

enum { TEXT_BYTES = 256 };

void sleeper_forget(struct sleeper *thread)
{
    if (!thread->tid)
        return;
    task_kept_close(&thread->clock_file);
    task_kept_close(&thread->call_file);
    switches_close(&thread->switches);
    memset(thread, 0, sizeof(*thread));
}

uint16_t sleeper_generation(const struct round *round, uint32_t slot)
{
    return (uint16_t)atomic_load_explicit(&round->writer->threads[slot].generation,
                                          memory_order_relaxed);
}

enum sleeper_met sleeper_meet(struct sleeper *thread, const struct round *round, uint32_t slot)
{
    const struct feed_thread *feed = &round->writer->threads[slot];
    int32_t own_tid = atomic_load_explicit(&feed->tid, memory_order_relaxed);
    uint16_t generation = sleeper_generation(round, slot);

    if (thread->tid && thread->own_tid == own_tid && thread->generation == generation)
        return SLEEPER_MET;
    if (!sleeper_meet_tid(thread, round, own_tid))
        return SLEEPER_NOT_MET;
    thread->generation = generation;
    return SLEEPER_MET_NEW;
}

bool sleeper_meet_tid(struct sleeper *thread, const struct round *round, int32_t own_tid)
{
    int32_t tid = round->pid == round->writer->header->head.pid
                      ? own_tid
                      : task_number_here(round->pid, own_tid);

    sleeper_forget(thread);
    if (tid <= 0)
        return false;
    thread->tid = tid;
    thread->own_tid = own_tid;
    switches_open(&thread->switches, tid, round->no_switches);
    return true;
}

static bool is_gone(long error)
{
    return error == -ESRCH || error == -ENOENT;
}

bool sleeper_clock(struct sleeper *thread, const struct round *round, struct thread_clock *out,
                   bool *has_clock)
{
    char text[TEXT_BYTES];
    long got = task_kept_read(&thread->clock_file, round->pid, thread->tid, "schedstat", text,
                              sizeof(text));

    *has_clock = got > 0 && thread_clock_parse(text, out);
    return !is_gone(got) && got != 0;
}

/* 'R', 'S', 'D' and so on; 0: it cannot be had. "TID (NAME) LETTER": any byte of a name may be ')'.
 */
static char letter_of(const struct sleeper *thread, const struct round *round)
{
    struct task_kept once = { 0 };
    char text[TEXT_BYTES], *end;
    long got = task_kept_read(&once, round->pid, thread->tid, "stat", text, 64);

    task_kept_close(&once);
    end = got > 0 ? strrchr(text, ')') : NULL;
    return end && end[1] ? end[2] : 0;
}

/* Without rights it is seen whether the thread sleeps, but not where. */
static enum sleeper_sight see_from_afar(const struct sleeper *thread, const struct round *round)
{
    char letter = letter_of(thread, round);

    return !letter ? SLEEPER_GONE : letter == 'R' ? SLEEPER_AWAKE : SLEEPER_CLOSED;
}

enum sleeper_sight sleeper_see(struct sleeper *thread, const struct round *round,
                               struct blocked *out)
{
    char text[TEXT_BYTES];
    long got =
        task_kept_read(&thread->call_file, round->pid, thread->tid, "syscall", text, sizeof(text));

    if (got == 0 || is_gone(got))
        return SLEEPER_GONE;
    if (got < 0 || !blocked_parse(text, out))
        return see_from_afar(thread, round);
    if (!out->runs && !out->sp)
        return SLEEPER_GONE; /* a zombie */
    return out->runs ? SLEEPER_AWAKE : SLEEPER_ASLEEP;
}

enum feed_state sleeper_state(const struct sleeper *thread, const struct round *round,
                              const struct blocked *blocked)
{
    if (blocked->number >= 0)
        return blocked_state(blocked->number);
    /* Outside system calls it waits for a page, unless somebody has stopped it. */
    return letter_of(thread, round) == 'D' ? FEED_STATE_IO : FEED_STATE_SLEEP;
}

/* The tag in force: the thread may wake and free it meanwhile. 0: none. */
static uint32_t tag_of(const struct round *round, uint32_t slot)
{
    uint64_t own = atomic_load_explicit(&round->writer->threads[slot].own, memory_order_acquire);
    char tag[FEED_NAME_MAX + 1];
    struct thread_annotations copy;
    uint64_t at = 0;
    long got;

    if (!own || !memory_read(round->pid, &copy, own, offsetof(struct thread_annotations, name)) ||
        !copy.depth || !memory_read(round->pid, &copy, own, sizeof(copy)))
        return 0;
    at = (uint64_t)thread_annotations_tag(&copy);
    got = at ? memory_read_some(round->pid, tag, at, FEED_NAME_MAX) : 0;
    tag[got > 0 ? got : 0] = 0;
    return feed_writer_name(round->writer, tag);
}

static void walk(struct sleeper *thread, struct round *round, uint32_t slot,
                 const struct blocked *blocked, uint64_t *frames, struct unwind_result *result)
{
    const struct feed_thread *feed = &round->writer->threads[slot];
    const struct stack_range stack = {
        .low = atomic_load_explicit(&feed->stack_low, memory_order_relaxed),
        .high = atomic_load_explicit(&feed->stack_high, memory_order_acquire),
        .root = atomic_load_explicit(&feed->stack_root, memory_order_relaxed),
    };
    const struct unwind_request request = {
        .map = round->map,
        .stack = &stack,
        .outer_frames = &thread->outer_frames,
        .frames_max = feed_writer_depth_max(round->writer),
        .scan = sleeper_scan_begin(round->scan, round->pid, slot),
    };
    struct unwind_sleeper *sleeper = &round->sleeper;

    sleeper->pid = round->pid;
    sleeper->read = NULL;
    sleeper->registers = NULL;
    sleeper->named = far_code_name;
    sleeper->named_context = round->named;
    sleeper->pc = blocked->pc;
    sleeper->sp = blocked->sp;
    sleeper->fp_known = switches_fp(&thread->switches, sleeper->pc, sleeper->sp, &sleeper->fp);
    sleeper->waits_at = blocked->number == SYS_futex ? blocked->arguments[0] : 0;
    unwind_asleep(&request, sleeper, frames, result);
}

/* Of the interpreter's lock, where somebody asked. A sleeper that holds it sleeps all the same. */
static enum feed_state state_of(enum feed_state state, const struct round *round,
                                const struct unwind_result *result)
{
    const struct feed_control *control = &round->writer->header->control;

    return result->lock == RUNTIME_LOCK_WAIT &&
                   atomic_load_explicit(&control->wants, memory_order_relaxed) & FEED_WANT_GIL
               ? FEED_STATE_GIL_WAIT
               : state;
}

void sleeper_sample(struct sleeper *thread, struct round *round, uint32_t slot,
                    const struct blocked *blocked, struct feed_sample *sample, bool *unknown_code)
{
    struct unwind_result result;
    uint32_t tag;

    walk(thread, round, slot, blocked, sample->frames, &result);
    tag = tag_of(round, slot);
    *sample = (struct feed_sample){
        .head = { .size_bytes = (uint32_t)(sizeof(*sample) + result.depth * sizeof(uint64_t)),
                  .type = FEED_RECORD_SAMPLE_OF,
                  .slot = (uint16_t)slot },
        .depth = (uint16_t)result.depth,
        .end = (uint8_t)result.end,
        .state = (uint8_t)state_of(sleeper_state(thread, round, blocked), round, &result),
        .tag = tag ? tag : result.task,
        .generation = thread->generation,
    };
    *unknown_code = result.unknown_code;
}
