/*
 * event_thread.h - one thread's way to its ring of events, and what was lost on it.
 *
 *   events.c: event_thread_open -> fill a record, publish it, as often as wanted -> event_thread_close
 *
 * Between the two the ring is there, even if the sampler is stopped meanwhile; a handler of the
 * program's that comes in between is refused.
 *
 * Threads    The thread itself.
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_EVENT_THREAD_H
#define ISOSCOPE_EVENT_THREAD_H

#include "../event_epoch.h"
#include "event_clock.h"

#include "../../feed/ring_write.h"

#include <stdbool.h>
#include <stdint.h>

/* More than a handler writes in one go. So many after one jumped out of the middle of a write, they
 * are let in again. */
enum { EVENT_REFUSALS_MAX = 4096 };

struct event_thread {
    uint32_t entered; /* ~ of the epoch whose ring this is; 0: none */
    bool entering;
    struct ring_writer ring;
    struct feed_writer *writer;
    const _Atomic uint64_t *streams; /* that are wanted */
    uint64_t tail; /* of the ring, when it was last looked at: that takes the reader's cache line */
    struct event_clock clock;
    /* Since the last record of it. */
    _Atomic uint64_t lost;
    uint32_t lost_ended, lost_begun; /* FEED_LOST_SLICES */
};

extern __thread struct event_thread event_thread;

/* A write that is under way. */
struct event_write {
    struct event_thread *thread;
    struct ring_writer ring;
    uint32_t epoch;
};

/* Of the calling thread: it has no ring for this feed yet. False: it gets none. */
SIGNAL_SAFE bool event_thread_enter(struct event_thread *thread);
/* It ends, or is in a forked child: what it knows is of no use any more. */
SIGNAL_SAFE void event_thread_forget(void);

SIGNAL_SAFE_INLINE bool event_thread_is_in(struct event_write *write)
{
    write->epoch = event_epoch_now();
    return write->thread->entered == ~write->epoch;
}

SIGNAL_SAFE_INLINE bool event_thread_begin_write(struct event_write *write)
{
    write->ring = write->thread->ring;
    return ring_begin_write(&write->ring, EVENT_REFUSALS_MAX);
}

/* Of a thread that is not in this epoch's feed. */
SIGNAL_SAFE bool event_thread_open_anew(struct event_write *write);

/* False: there is no feed, or no ring in it; or a write is under way (write->ring.refused). */
SIGNAL_SAFE_INLINE bool event_thread_open(struct event_write *write)
{
    write->thread = &event_thread;
    if (!event_thread_begin_write(write))
        return false;
    /* The write is marked first: who takes the feed away looks for marks after it. */
    if (__builtin_expect(event_thread_is_in(write), 1))
        return true;
    ring_end_write(&write->ring);
    return event_thread_open_anew(write);
}

/* False: it was given up meanwhile, so what was published last is not whole, perhaps. */
SIGNAL_SAFE_INLINE bool event_thread_close(struct event_write *write)
{
    bool whole = ring_is_writing(&write->ring);

    ring_end_write(&write->ring);
    return whole;
}

/* An event is lost, and counted: event_thread_open gave false, */
SIGNAL_SAFE void event_thread_refused(struct event_write *write, enum feed_event_phase phase);
/* or something else has come in between. */
SIGNAL_SAFE void event_thread_lose(const struct event_write *write, enum feed_event_phase phase,
                                   enum feed_event_loss cause);
/* Says what was lost, if there is room for that. False: there is not. */
SIGNAL_SAFE bool event_thread_tell_loss(struct event_write *write);

#endif
