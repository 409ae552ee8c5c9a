/*
 * held_clock.h - a program's user clocks: held here alone, and switched from here.
 *
 *   hello (SCM_RIGHTS) -> held_clock -> on and off, as settings, debuggers and the program say
 *                                    -> others in its place, opened from outside
 *
 * The program keeps no descriptor. The clock that it came with ticks in all its threads. Where that
 * will not do (a shorter period, threads that were there before it, one that was given up), each
 * thread gets one of its own, which needs the right to trace the program.
 *
 * A debugger stops at each trap, so while there is one nothing ticks.
 *
 * Ownership  Owns the descriptors.
 * Threads    The holder of the collector's round.
 * Errors     None: what is no perf event is closed, and what cannot be opened is not there.
 */
#ifndef ISOSCOPE_HELD_CLOCK_H
#define ISOSCOPE_HELD_CLOCK_H

#include "../../feed/feed_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct held_clock {
    struct held_event {
        int fd;
        int32_t tid; /* 0: the program's own, which its threads inherit */
    } * events;
    size_t count, room;
    uint32_t period_us; /* that they were opened with */
    bool runs;          /* they tick */
    bool given_up;      /* by a program of one thread that switches very often */
    bool refused;       /* the kernel lets nobody open others */
    bool had;           /* there was one at some time */
    bool traced;
    int64_t looked_us;
    uint32_t suspects_seen, short_seen, short_looks, random;
};

/* Takes over fd, of a clock that ticks with that period if runs is true; -1: there is none. */
void held_clock_take(struct held_clock *clock, int fd, uint32_t period_us, bool runs);
/* Opens one for a thread that was there before the clock. tid: what the program says; nothing
 * happens where that is no thread of pid. */
void held_clock_add(struct held_clock *clock, int32_t pid, int32_t tid);
/* Does what the program and the settings want. period_us: of the settings; 0: paused, or another
 * mode. True: what the program is told (runs), or users are (traced), has changed. */
bool held_clock_follow(struct held_clock *clock, int32_t pid, const struct feed_clock_view *wish,
                       uint32_t period_us, int64_t now_us);
/* Why there are no user ticks, as far as this side knows. */
enum feed_timer_reason held_clock_reason(const struct held_clock *clock);
void held_clock_drop(struct held_clock *clock);

#endif
