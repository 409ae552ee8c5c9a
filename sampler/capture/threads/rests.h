/*
 * rests.h - threads whose sampling timers must not run now: they are about to exec.
 *
 *   exec_guard.c: rests_ask -> sampler's thread: threads_rest -> rests_wait -> exec
 *                 rests_end -> sampler's thread: the timer runs again
 *
 * By tid, not by watch: a thread that is not watched yet could become so in the middle of its exec.
 *
 * Threads    rests_ask, rests_wait, rests_end: the thread itself, all signals blocked.
 *            Everything else: the sampler's thread.
 * Errors     rests_ask: NULL when all places are taken.
 */
#ifndef ISOSCOPE_RESTS_H
#define ISOSCOPE_RESTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { RESTS_MAX = 64 };

enum rest_state { REST_NONE, REST_ASKED, REST_ON, REST_OVER };

struct rest {
    _Atomic uint64_t holder;  /* tid << 32 | rest_state; 0: the place is free */
    _Atomic uint32_t answers; /* futex */
    uint32_t depth;           /* the thread's own: a signal handler may exec within an exec */
};

struct rests {
    struct rest list[RESTS_MAX];
    _Atomic uint32_t news; /* somebody asked, or came to an end, since the last look */
};

/* The calling thread wants its timer to rest. */
struct rest *rests_ask(struct rests *rests, int32_t tid);
/* True when it does; waits so long at most. */
bool rests_wait(struct rest *rest, const struct timespec *longest);
/* The exec failed. True: the sampler's thread has something to do. */
bool rests_end(struct rests *rests, struct rest *rest);

/* The thread's timer must not run. */
bool rests_hold(struct rests *rests, int32_t tid);

/* True once after news. */
bool rests_look(struct rests *rests);
/* The thread has asked, and its timer stands still now. */
void rests_answer(struct rest *rest, int32_t tid);
/* The state of a place, and whose it is. */
enum rest_state rests_state(const struct rest *rest, int32_t *tid);
/* Gives the place of a thread whose rest is over back; false when it has asked again since. */
bool rests_drop(struct rest *rest, int32_t tid);

#endif
