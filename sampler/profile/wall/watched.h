/*
 * watched.h - one thread of a profiled program, as the rounds of wall mode know it.
 *
 *   subject.h, in each round -> watched_look -> what it did since: shares.h
 *     -> it ran, or waited for a processor: it owes, and its next tick says where
 *     -> it slept: where it slept before, while its clocks stand; else its stack, read from here
 *
 * One that does the same for long is looked at less often: its clocks tell of the time between.
 *
 * Nobody is signalled: reads would come short, and poll, nanosleep and others would return EINTR.
 *
 * Ownership  All zeros is no thread; watched_forget gives back what one holds.
 * Threads    The rounds' thread.
 * Errors     None: what cannot be told is counted by cause.
 */
#ifndef ISOSCOPE_WATCHED_H
#define ISOSCOPE_WATCHED_H

#include "sleeper.h"

struct watched {
    struct sleeper sleeper;
    bool told;   /* of where it slept last, in state */
    bool stands; /* and it is there while its clocks stand as in slept_at */
    bool began;  /* shares have */
    uint8_t state;
    bool was_still;   /* at the last look; or awake */
    int64_t same_us;  /* since when it is so */
    int64_t place_us; /* and since when it was told to sleep in one place, if it moved or not */
    uint64_t place;   /* a hash of the stack there */
    int64_t next_us;  /* it is looked at again */
    int64_t owes_us;  /* since when it owes nothing more */
    int64_t holds_us; /* the stack is believed until then */
    uint64_t ran_ns;  /* round.ran_ns of the last look */
    uint16_t unknown_holds; /* rounds, of the last one that ended in unknown code */
    struct thread_clock slept_at;
    struct shares shares;
};

/* The slot's thread as it is in the feed; another one may have been there before. False: it is not
 * there. */
bool watched_meet(struct watched *thread, struct round *round, uint32_t slot);
void watched_look(struct watched *thread, struct round *round, uint32_t slot);
/* More is known of the code: its stack is walked anew. */
void watched_look_again(struct watched *thread);
/* It is to answer for no more rounds: what it owes is told where it slept last. */
void watched_pay(struct watched *thread, struct round *round, uint32_t slot);
void watched_forget(struct watched *thread);

#endif
