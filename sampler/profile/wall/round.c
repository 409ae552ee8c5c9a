#include "round.h"

#include "../../feed/feed_count.h"

#include <stdatomic.h>
#include <string.h>

uint32_t round_slots(const struct feed_writer *writer)
{
    uint32_t used =
        atomic_load_explicit(&writer->header->status.threads_used, memory_order_acquire);
    uint32_t room = (uint32_t)(writer->rings.bytes / FEED_RING_BYTES);

    return used < room ? used : room;
}

void round_count_lost(const struct round *round, enum feed_loss loss, uint64_t rounds)
{
    feed_count(&round->writer->header->status.lost[loss], rounds);
}

/* A program that writes where it should not must not lead us beyond the ring. */
static void *reserve_record(const struct round *round, struct ring_writer *ring, uint32_t bytes)
{
    _Atomic uint64_t *head = &round->writer->threads[0].head;
    uint64_t at = atomic_load_explicit(head, memory_order_relaxed);

    if (at % 8)
        atomic_store_explicit(head, at & ~UINT64_C(7), memory_order_relaxed);
    feed_writer_ring(round->writer, 0, ring);
    return ring_reserve(ring, bytes);
}

struct feed_sample *round_reserve(const struct round *round, struct ring_writer *ring)
{
    uint32_t frames_max = feed_writer_depth_max(round->writer);

    return reserve_record(round, ring,
                          (uint32_t)(sizeof(struct feed_sample) + frames_max * sizeof(uint64_t)));
}

void round_flush(struct round *round)
{
    struct feed_status *status = &round->writer->header->status;
    struct batch *batch = &round->batch;
    uint64_t all = (uint64_t)batch->count * batch->rounds;
    uint32_t bytes =
        (uint32_t)(sizeof(struct feed_again) + batch->count * sizeof(batch->sleepers[0]) + 7) & ~7u;
    struct feed_again *again;
    struct ring_writer ring;

    if (!batch->count)
        return;
    again = reserve_record(round, &ring, bytes);
    if (again) {
        *again = (struct feed_again){ .head = { bytes, FEED_RECORD_AGAIN, 0 },
                                      .timestamp_us = batch->first_us,
                                      .period_us = round->period_us,
                                      .rounds = (uint16_t)batch->rounds,
                                      .count = (uint16_t)batch->count };
        memcpy(again->sleepers, batch->sleepers, batch->count * sizeof(batch->sleepers[0]));
        ring_commit(&ring);
    }
    feed_count(again ? &status->delivered : &status->lost[FEED_LOSS_RING_FULL], all);
    batch->count = 0;
}

void round_again(struct round *round, uint32_t slot, uint16_t generation, enum feed_state state,
                 uint32_t rounds, uint32_t rounds_ago)
{
    int64_t first_us = round->now_us - (int64_t)rounds_ago * round->period_us;
    struct batch *batch = &round->batch;

    if (!rounds)
        return;
    if (batch->rounds != rounds || batch->first_us != first_us || batch->count == FEED_SLEEPERS_MAX)
        round_flush(round);
    batch->rounds = rounds;
    batch->first_us = first_us;
    batch->sleepers[batch->count++] = FEED_SLEEPER(slot, generation, state);
    feed_count(&round->writer->header->status.ticks, rounds);
}

void round_owe(const struct round *round, uint32_t slot, uint32_t running, uint32_t runnable)
{
    _Atomic uint32_t *owes = &round->writer->threads[slot].owed;
    uint32_t owed = atomic_load_explicit(owes, memory_order_relaxed);

    if (!running && !runnable)
        return;
    owed = owed % FEED_OWED_RUNNABLE + owed / FEED_OWED_RUNNABLE;
    if (owed + running + runnable > FEED_OWED_MAX) {
        round_count_lost(round, FEED_LOSS_OVERRUN, running + runnable);
        return;
    }
    atomic_fetch_add_explicit(owes,
                              running * FEED_OWED_RUNNING + runnable * (uint32_t)FEED_OWED_RUNNABLE,
                              memory_order_relaxed);
}
