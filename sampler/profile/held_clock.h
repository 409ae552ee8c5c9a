/*
 * held_clock.h - a program's user clock, held here too, and switched off while it is debugged.
 *
 *   hello (SCM_RIGHTS) -> held_clock -> /proc/PID/status: TracerPid -> off, and on again
 *
 * A debugger stops at each trap. It stops all threads first, the sampler's too, so this is done
 * from outside. The program is told, and leaves its clock alone meanwhile.
 *
 * Ownership  Owns the descriptor.
 * Threads    The holder of the collector's round.
 * Errors     None: a descriptor that is no perf event is closed, and nothing is held.
 */
#ifndef ISOSCOPE_HELD_CLOCK_H
#define ISOSCOPE_HELD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct held_clock {
    int fd; /* -1: none */
    bool given_up;
    bool traced;
    int64_t looked_us;
};

/* Takes over fd; -1: there is none. */
void held_clock_take(struct held_clock *clock, int fd);
/* Looks whether a debugger is attached, if the last look is not just now. True: that has changed.
 */
bool held_clock_look(struct held_clock *clock, int32_t pid, int64_t now_us);
/* The program has no use for it any more. What it opens later it switches off itself, for debuggers
 * that are looked for as before. */
void held_clock_give_up(struct held_clock *clock);
void held_clock_drop(struct held_clock *clock);

#endif
