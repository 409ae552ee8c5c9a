/*
 * event_epoch.h - which feed the program's events go to, and which streams are wanted.
 *
 *   begin.c, announce.c, sampler.c, tend.c (a feed comes, goes, is switched) -> here -> events/
 *
 * Each feed has its epoch, a number. Threads, and places in the code, keep what they know of a feed
 * (a ring, a name's place) under its epoch, and look again in another one. The number stands in a
 * page that the kernel wipes in a child, so that one which was forked without libc finds none, in
 * place of a ring that is not mapped there. The page comes with the first event.
 *
 * Threads    Any.
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_EVENT_EPOCH_H
#define ISOSCOPE_EVENT_EPOCH_H

#include "threads/threads.h"

#include "../feed/signal_safe.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern _Atomic(_Atomic uint32_t *) event_epoch_word;

/* 0: there is no feed that events could go to. */
SIGNAL_SAFE_INLINE uint32_t event_epoch_now(void)
{
    return atomic_load_explicit(atomic_load_explicit(&event_epoch_word, memory_order_relaxed),
                                memory_order_acquire);
}

/* The sampler has another feed, and all of it is in its place. */
SIGNAL_SAFE void event_epoch_begin(void);
/* It has none any more; or its feed has no reader, and is only to be left alone. */
SIGNAL_SAFE void event_epoch_end(void);
/* The service may have switched streams. read: somebody reads the feed. */
SIGNAL_SAFE void event_epoch_follow(bool read);
/* event_epoch_now is right from then on. False: there is no memory, or the kernel is too old. */
SIGNAL_SAFE bool event_epoch_reach(void);

/* After event_epoch_end: true when no thread writes events any more, so that the feed may go. */
bool event_epoch_is_left(const struct threads *threads);

#endif
