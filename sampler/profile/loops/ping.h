/*
 * ping.h - a loop that does not tell its dispatches is asked for a sign now and then: a ping on its way is a dispatch
 * whose job began between the thread's last rest or answer and when it was asked for.
 *
 *   watched_loop (the ping words, the thread's clock) -> ping -> to ask or not, and a mark for loop_watch.h
 *
 * While the thread has not run since its last answer it rests, and is left alone: else pings would keep it awake, and
 * be all that it does.
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds.
 * Ownership  The user's struct; all zeros was never asked.
 * Threads    One at a time. Pure.
 */
#ifndef ISOSCOPE_PING_H
#define ISOSCOPE_PING_H

#include "../stalls.h"
#include "../wall/shares.h"

struct ping {
    uint64_t asked; /* pings so far */
    bool out;       /* the last one is on its way */
    bool posted;
    bool due;          /* its thread has run */
    int64_t looked_ns; /* it was asked, or its clock was read to see whether to */
    int64_t rested_ns; /* it rested then, or had not answered yet: what keeps it began later */
    bool clocked;      /* rested is known */
    struct thread_clock rested; /* at its last answer */
};

/* When it is time to read its thread's clock, for ping_is_due. */
int64_t ping_next_ns(const struct ping *ping, int64_t every_ns);
/* Whether its thread has run since its last answer. */
bool ping_is_due(struct ping *ping, const struct thread_clock *clock, int64_t now_ns);
void ping_ask(struct ping *ping, int64_t now_ns);
/* Its thread's clock, right behind its answer. */
void ping_rests(struct ping *ping, const struct thread_clock *clock);
/* What the words say of the one on its way: posted is what was handed over, seen what was answered. True: it has come
 * back, since before_ns. */
bool ping_answered(struct ping *ping, uint32_t asked, uint32_t posted, uint32_t seen,
                   int64_t before_ns);
/* When the job began that the one on its way waits for. */
struct stall_range ping_began(const struct ping *ping, int64_t at_most_ns);
/* As loop_watch.h wants it: odd while one is on its way. */
uint64_t ping_mark(const struct ping *ping);

#endif
