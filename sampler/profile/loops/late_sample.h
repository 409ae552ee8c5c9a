/*
 * late_sample.h - samples of threads that sleep, taken because a loop is late.
 *
 *   wall/sleeper.h -> late_sample_walk -> late_sample_tell -> ring 0 (FEED_KIND_STALL)
 *
 * They are no part of what was asked to be sampled: the feed counts none of them as a tick or as delivered.
 *
 * Threads    Between rounds_begin_look and rounds_end_look.
 */
#ifndef ISOSCOPE_LATE_SAMPLE_H
#define ISOSCOPE_LATE_SAMPLE_H

#include "../wall/sleeper.h"

/* Room for any; free() ends it. NULL: no memory. */
struct feed_sample *late_sample_new(void);

enum late_walk {
    LATE_WALKED,
    LATE_ELSEWHERE, /* it woke meanwhile: there is no sample */
    LATE_CUT,       /* it ended in code that is not known yet */
};
/* clock: of the thread, before it was seen where blocked says. */
enum late_walk late_sample_walk(struct sleeper *thread, struct round *round, uint32_t slot,
                                const struct blocked *blocked, const struct thread_clock *clock,
                                struct feed_sample *out);
/* As of now. */
void late_sample_tell(const struct round *round, struct feed_sample *sample);
/* Both, if it sleeps. */
bool late_sample_once(struct sleeper *thread, struct round *round, uint32_t slot);

/* The slot of a thread that lives, by the number that the program has for it; 0: none. */
uint32_t late_sample_slot(const struct round *round, int32_t tid);

#endif
