/*
 * target_waits.c - threads that are off the processor: where they left it, and for how long.
 */
#include "target_state.h"

#include "../../feed/feed_count.h"
#include "../../feed/record.h"

#include <stdlib.h>
#include <string.h>

enum { NS_PER_US = 1000 };

struct target_wait {
    bool is_away;
    int64_t since_ns; /* what came before is told */
    uint32_t what;
    uint32_t waits; /* that it stands for */
    uint32_t seen;  /* since it began */
    pid_t waker;    /* 0: not known */
    uint8_t end;
    uint32_t depth;
    uint64_t frames[FEED_DEPTH_MAX];
};

static enum feed_state state_of(uint32_t what)
{
    switch (what) {
    case FEED_WAIT_DISK:
        return FEED_STATE_IO;
    case FEED_WAIT_PROCESSOR:
        return FEED_STATE_RUNNABLE;
    default:
        return FEED_STATE_SLEEP;
    }
}

static struct target_wait *wait_of(struct target_thread *thread)
{
    if (!thread->wait)
        thread->wait = calloc(1, sizeof(*thread->wait));
    return thread->wait;
}

enum target_outcome target_left(struct target *target, const struct target_sample *from,
                                uint32_t what)
{
    struct target_thread *thread =
        target_threads_meet(&target->threads, &target->writer, target->pid, from->tid, false);
    struct target_wait *wait = thread && thread->slot ? wait_of(thread) : NULL;
    struct unwind_result result;

    if (!wait || !atomic_load_explicit(&target->modules.maps.current, memory_order_relaxed)) {
        target_waits_lost(target, 1);
        return TARGET_LOST;
    }
    target_walk(target, thread, from, wait->frames, &result);
    wait->is_away = true;
    wait->since_ns = from->at_ns;
    wait->what = what;
    wait->waits = wait->seen ? wait->seen : 1;
    wait->seen = 0;
    wait->waker = 0;
    wait->end = (uint8_t)result.end;
    wait->depth = result.depth;
    return target_outcome_of(target, &result);
}

static struct target_wait *away(struct target *target, pid_t tid, struct target_thread **thread)
{
    *thread = target_threads_find(&target->threads, tid);
    return *thread && (*thread)->wait && (*thread)->wait->is_away ? (*thread)->wait : NULL;
}

void target_woken(struct target *target, pid_t tid, pid_t waker)
{
    struct target_thread *thread;
    struct target_wait *wait = away(target, tid, &thread);

    if (wait && wait->what != FEED_WAIT_PROCESSOR)
        wait->waker = waker;
}

static void put(struct feed_sample *sample, const struct target_wait *wait, int64_t at_ns,
                uint64_t waited_ns)
{
    /* One of so many stands for all of them. */
    const struct feed_wait_words words = { .mean_ns = wait->waits,
                                           .holder = wait->waker,
                                           .what = wait->what };

    *sample = (struct feed_sample){
        .head = { .size_bytes =
                      (uint32_t)(sizeof(*sample) + wait->depth * sizeof(uint64_t) + sizeof(words)),
                  .type = FEED_RECORD_SAMPLE },
        .timestamp_us = at_ns / NS_PER_US,
        .cpu_ns = waited_ns,
        .depth = (uint16_t)wait->depth,
        .end = wait->end,
        .state = (uint8_t)state_of(wait->what),
        .kind = FEED_KIND_WAIT,
    };
    memcpy(sample->frames, wait->frames, wait->depth * sizeof(uint64_t));
    memcpy(&sample->frames[wait->depth], &words, sizeof(words));
}

static void tell(struct target *target, const struct target_thread *thread,
                 const struct target_wait *wait, int64_t at_ns)
{
    struct feed_status *status = target_status(target);
    struct feed_sample *sample;
    struct ring_writer ring;

    feed_writer_ring(&target->writer, thread->slot, &ring);
    sample = ring_reserve(&ring, (uint32_t)(sizeof(*sample) + wait->depth * sizeof(uint64_t) +
                                            sizeof(struct feed_wait_words)));
    if (!sample) {
        target_waits_lost(target, wait->waits);
        return;
    }
    put(sample, wait, at_ns, (uint64_t)(at_ns - wait->since_ns));
    ring_commit(&ring);
    feed_count(&status->waits_sampled, 1);
}

void target_away(struct target *target, pid_t tid)
{
    struct target_thread *thread = target_threads_find(&target->threads, tid);

    if (thread && thread->wait)
        thread->wait->seen++;
}

void target_waits_lost(struct target *target, uint64_t waits)
{
    feed_count(&target_status(target)->waits_lost, waits);
}

void target_back(struct target *target, pid_t tid, int64_t at_ns)
{
    struct target_thread *thread;
    struct target_wait *wait = away(target, tid, &thread);

    if (!wait)
        return;
    if (at_ns > wait->since_ns)
        tell(target, thread, wait, at_ns);
    wait->is_away = false;
}

void target_tell_waits(struct target *target, int64_t now_ns)
{
    for (uint32_t i = 0; i < target->threads.count; i++) {
        struct target_thread *thread = &target->threads.list[i];
        struct target_wait *wait = thread->tid ? thread->wait : NULL;

        /* One of many that stands for all is told at its end: only then it is known how long it is. */
        if (!wait || !wait->is_away || wait->waits != 1 || now_ns <= wait->since_ns)
            continue;
        tell(target, thread, wait, now_ns);
        wait->since_ns = now_ns;
    }
}
