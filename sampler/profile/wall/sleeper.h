/*
 * sleeper.h - one thread of a profiled program, read from outside: the kernel's clocks of it, whether it sleeps and in
 * what, and its stack there.
 *
 *   watched.h (rounds of wall mode), loops/late_thread.h (a late loop's thread) -> sleeper_see, sleeper_sample
 *     -> a sample, for ring 0
 *
 * Ownership  All zeros is no thread; sleeper_forget gives back what one holds.
 * Threads    The rounds' thread, or who has their lock.
 * Errors     None: what cannot be read is said so.
 */
#ifndef ISOSCOPE_SLEEPER_H
#define ISOSCOPE_SLEEPER_H

#include "blocked.h"
#include "round.h"
#include "shares.h"
#include "task_files.h"

struct sleeper {
    int32_t tid;         /* here; 0: no thread */
    int32_t own_tid;     /* as the program numbers it */
    uint16_t generation; /* of the feed's slot */
    struct task_kept clock_file, call_file;
    struct switches switches;
    struct outer_frames outer_frames;
};

enum sleeper_sight {
    SLEEPER_GONE,
    SLEEPER_AWAKE,
    SLEEPER_ASLEEP,
    SLEEPER_STILL,  /* where it was met before, for its clocks stand: said by who knows that */
    SLEEPER_CLOSED, /* it sleeps, but there are no rights to see where */
};

/* The slot's thread as it is in the feed. SLEEPER_MET_NEW: another one was there before, or none. */
enum sleeper_met { SLEEPER_NOT_MET, SLEEPER_MET, SLEEPER_MET_NEW };
enum sleeper_met sleeper_meet(struct sleeper *thread, const struct round *round, uint32_t slot);
/* The same by its number alone, which the program has for it: one that has no slot. */
bool sleeper_meet_tid(struct sleeper *thread, const struct round *round, int32_t own_tid);
void sleeper_forget(struct sleeper *thread);

/* False: the thread is gone. has_clock false: the kernel keeps none. */
bool sleeper_clock(struct sleeper *thread, const struct round *round, struct thread_clock *out,
                   bool *has_clock);
enum sleeper_sight sleeper_see(struct sleeper *thread, const struct round *round,
                               struct blocked *out);
enum feed_state sleeper_state(const struct sleeper *thread, const struct round *round,
                              const struct blocked *blocked);

/* A sample of its stack, where it was seen asleep: all but its time and kind. sample: room for
 * frames_max. It may have woken meanwhile: then its clocks do not stand, and the sample is worth
 * nothing. */
void sleeper_sample(struct sleeper *thread, struct round *round, uint32_t slot,
                    const struct blocked *blocked, struct feed_sample *sample, bool *unknown_code);

/* The low bits of the generation that the slot has now. */
uint16_t sleeper_generation(const struct round *round, uint32_t slot);

#endif
