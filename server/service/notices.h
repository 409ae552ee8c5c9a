/*
 * notices.h - what a user should be told about the sampling of a run, once.
 */
#ifndef ISOSCOPE_NOTICES_H
#define ISOSCOPE_NOTICES_H

#include "../../sampler/feed/layout.h"

#include <stdbool.h>
#include <stdint.h>

struct profile;

struct timer_notices {
    bool said[FEED_TIMER_REASON_COUNT];
    bool said_faults, said_own_malloc;
};

/*
 * Says when CPU-time timers tick alone, slower than what was asked, and why, and when page faults or a
 * program's allocations cannot be sampled: of each reason once,
 * with the first process that has it. To be called again and again, for reasons come while programs
 * run.
 */
void notice_timers(struct timer_notices *notices, struct profile *profile, uint32_t asked_us);

/* No process of the run ever said hello: what to look at. */
#define NO_HELLO_REASON                                                                            \
    "the preloaded sampler did not start in it. Does it clear LD_PRELOAD, start a statically "     \
    "linked program, or limit its file sizes (ulimit -f) to a few MB? `isoscope attach PID` "      \
    "samples "                                                                                     \
    "such a program from outside"

#endif
