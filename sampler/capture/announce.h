/*
 * announce.h - the process's feed: made, and handed to the service with a hello.
 *
 *   sampler.c, forked.c, tend.c -> announce -> feed_writer.h, uplink.h
 *
 * Threads    Who starts the sampler, or holds its lock.
 * Errors     0, or a negative isoscope_error.
 */
#ifndef ISOSCOPE_ANNOUNCE_H
#define ISOSCOPE_ANNOUNCE_H

#include "../feed/message.h"
#include "../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>

/* Makes the sampler's feed; *memfd gets its descriptor. */
SIGNAL_SAFE int announce_feed(int *memfd, int64_t start_us, uint32_t period_us, bool enabled);
/* Says hello with the clock that all threads to come inherit, and keeps no descriptor. Nothing is
 * asked back: ticks may come already. uplink: as in uplink_hello. Takes over memfd. */
SIGNAL_SAFE int announce_hello(int uplink, enum feed_origin origin, int memfd);
/* Nobody reads the feed any more: says hello to a service that listens at the same address now,
 * with a feed made anew. By a tick, with the lock. */
SIGNAL_SAFE void announce_again(void);

/* The sampler stops: its feed goes when the next one is left, for a thread may be about to write there. */
void announce_leave_feed(void);
/* In a forked child: the parent's feeds are not mapped there. */
void announce_forget_parent(void);

#endif
