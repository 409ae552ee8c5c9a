#include "late_sample.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct feed_sample *late_sample_new(void)
{
    return malloc(sizeof(struct feed_sample) + FEED_DEPTH_MAX * sizeof(uint64_t));
}

enum late_walk late_sample_walk(struct sleeper *thread, struct round *round, uint32_t slot,
                                const struct blocked *blocked, const struct thread_clock *clock,
                                struct feed_sample *out)
{
    struct thread_clock after = *clock;
    bool unknown_code, has_clock;

    sleeper_sample(thread, round, slot, blocked, out, &unknown_code);
    round->unknown_code |= unknown_code;
    if (!sleeper_clock(thread, round, &after, &has_clock) || !thread_clock_stands(clock, &after))
        return LATE_ELSEWHERE;
    return unknown_code ? LATE_CUT : LATE_WALKED;
}

void late_sample_tell(const struct round *round, struct feed_sample *sample)
{
    struct ring_writer ring;
    struct feed_sample *room = round_reserve(round, &ring);

    if (!room) {
        round_count_lost(round, FEED_LOSS_RING_FULL, 1);
        return;
    }
    sample->timestamp_us = round->now_us;
    sample->kind = FEED_KIND_STALL;
    memcpy(room, sample, sample->head.size_bytes);
    ring_commit(&ring);
}

bool late_sample_once(struct sleeper *thread, struct round *round, uint32_t slot)
{
    struct feed_sample *sample = late_sample_new();
    struct thread_clock clock = { 0 };
    struct blocked blocked;
    bool has_clock, told;

    told = sample && round->map && sleeper_clock(thread, round, &clock, &has_clock) &&
           sleeper_see(thread, round, &blocked) == SLEEPER_ASLEEP &&
           late_sample_walk(thread, round, slot, &blocked, &clock, sample) != LATE_ELSEWHERE;
    if (told)
        late_sample_tell(round, sample);
    free(sample);
    return told;
}

uint32_t late_sample_slot(const struct round *round, int32_t tid)
{
    const struct feed_writer *writer = round->writer;
    uint32_t slots = round_slots(writer);

    for (uint32_t slot = 1; slot < slots; slot++) {
        const struct feed_thread *thread = &writer->threads[slot];

        if (atomic_load_explicit(&thread->state, memory_order_acquire) == FEED_THREAD_LIVE &&
            atomic_load_explicit(&thread->tid, memory_order_relaxed) == tid)
            return slot;
    }
    return 0;
}
