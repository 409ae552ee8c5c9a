/*
 * kept_stall.h - one stall with all its text in one piece of memory, which never changes.
 *
 *   teller (makes it) -> kept_stall <- stall_log, sessions, readers of windows (hold it)
 *
 * Ownership  Counted.
 * Threads    Holding and releasing: any.
 */
#ifndef ISOSCOPE_KEPT_STALL_H
#define ISOSCOPE_KEPT_STALL_H

#include "../stalls.h"

#include <stdatomic.h>

struct kept_stall {
    _Atomic uint32_t references;
    size_t bytes; /* all of it */
    struct stall stall;
};

/* A copy, with everything it points to; NULL: no memory. Strings that are equal are stored once. Who made
 * it may still write to stall before others see it. */
struct kept_stall *kept_stall_new(const struct stall *from);
struct kept_stall *kept_stall_hold(struct kept_stall *kept);
void kept_stall_release(struct kept_stall *kept); /* NULL is fine */

#endif
