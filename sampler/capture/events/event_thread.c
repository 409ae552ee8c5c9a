#include "event_thread.h"

#include "../forked.h"
#include "../sampler_state.h"

#include "../../feed/feed_count.h"
#include "../../feed/feed_events.h"

__thread struct event_thread event_thread;

/* A forked child that has something to tell begins now. */
static SIGNAL_SAFE bool runs(void)
{
    forked_begin_at_tick();
    return sampler_running() && event_epoch_reach();
}

static SIGNAL_SAFE void count_lost(struct feed_header *header, enum feed_event_loss cause)
{
    feed_count(&header->status.events_lost[cause], 1);
}

static SIGNAL_SAFE bool take_ring(struct event_thread *thread)
{
    uint32_t epoch = event_epoch_now();
    uint32_t slot = epoch ? threads_slot_of_tick(&sampler.threads, sampler.pid) : 0;
    struct ring_writer ring;

    if (!slot || !feed_events_ring(&sampler.writer, slot, &ring))
        return false;
    ring.busy = &threads_at(&sampler.threads, slot)->event_busy;
    thread->ring = ring;
    thread->tail = atomic_load_explicit(ring.tail, memory_order_acquire);
    thread->writer = &sampler.writer;
    thread->streams = &sampler.writer.header->control.streams;
    thread->entered = ~epoch;
    return true;
}

/* As a tick does: who stops the sampler waits for those that saw it run. */
bool event_thread_enter(struct event_thread *thread)
{
    bool enters;

    if (thread->entering)
        return false; /* a handler in the middle of the same */
    thread->entering = true;
    atomic_fetch_add_explicit(&sampler.handlers, 1, memory_order_seq_cst);
    enters = atomic_load(&sampler.running) != RUN_STOPPED && runs();
    if (enters && !take_ring(thread)) {
        count_lost(sampler.writer.header, FEED_EVENT_LOSS_NO_RING);
        enters = false;
    }
    atomic_fetch_sub_explicit(&sampler.handlers, 1, memory_order_release);
    thread->entering = false;
    return enters;
}

void event_thread_forget(void)
{
    event_thread.entered = 0;
    event_thread.entering = false;
    atomic_store_explicit(&event_thread.lost, 0, memory_order_relaxed);
    event_thread.lost_ended = event_thread.lost_begun = 0;
}

bool event_thread_open_anew(struct event_write *write)
{
    if (!event_thread_enter(write->thread) || !event_thread_begin_write(write))
        return false;
    if (event_thread_is_in(write))
        return true;
    ring_end_write(&write->ring);
    return false;
}

/* For the record of it. */
static SIGNAL_SAFE void note_loss(struct event_thread *thread, enum feed_event_phase phase)
{
    atomic_fetch_add_explicit(&thread->lost, 1, memory_order_relaxed);
    if (phase == FEED_EVENT_BEGIN)
        thread->lost_begun++;
    else if (phase == FEED_EVENT_END && thread->lost_begun)
        thread->lost_begun--;
    else if (phase == FEED_EVENT_END)
        thread->lost_ended++;
}

void event_thread_lose(const struct event_write *write, enum feed_event_phase phase,
                       enum feed_event_loss cause)
{
    count_lost(write->thread->writer->header, cause);
    note_loss(write->thread, phase);
}

/* Where a write is under way, that one keeps the feed. */
void event_thread_refused(struct event_write *write, enum feed_event_phase phase)
{
    if (write->ring.refused && event_thread_is_in(write))
        count_lost(write->thread->writer->header, FEED_EVENT_LOSS_BUSY);
    note_loss(write->thread, phase);
}

bool event_thread_tell_loss(struct event_write *write)
{
    struct event_thread *thread = write->thread;
    struct feed_event *event =
        ring_find_room(&write->ring, sizeof(struct feed_event) + 2 * sizeof(uint64_t));

    if (!event)
        return false;
    event->head = (struct feed_record){
        .size_bytes = sizeof(struct feed_event) + 2 * sizeof(uint64_t),
        .type = FEED_RECORD_EVENT,
        .slot = FEED_EVENT_HEAD(FEED_EVENT_LOST, 0, 0),
    };
    event->timestamp_ns = (int64_t)event_clock_ns(&thread->clock);
    event->words[0] = atomic_exchange_explicit(&thread->lost, 0, memory_order_relaxed);
    event->words[1] = FEED_LOST_SLICES(thread->lost_ended, thread->lost_begun);
    thread->lost_ended = thread->lost_begun = 0;
    ring_publish(&write->ring);
    return true;
}
