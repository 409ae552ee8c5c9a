/*
 * shares.h - how many rounds of wall mode a thread ran, waited for a processor, or slept.
 *
 *   /proc/PID/task/TID/schedstat, and whether the thread was seen awake -> shares
 *     -> rounds, by kind
 *
 * The kernel's clocks of a thread say what it did between two looks. The look itself does not: the
 * thread that looks had a processor just then, so on a busy machine it meets others without. A
 * round that comes late is no loss, for the clocks have gone on. What was told and what the clocks
 * say differ by less than a round or two, which is made up for later.
 *
 * The kernel adds to a running thread's clock in its tick, and to the time that one waited when
 * that is over. Until then it is guessed; the guess is taken back by what comes then.
 *
 * Threads    One at a time.
 * Source     the kernel's Documentation/scheduler/sched-stats.rst, "/proc/<pid>/schedstat".
 */
#ifndef ISOSCOPE_SHARES_H
#define ISOSCOPE_SHARES_H

#include <stdbool.h>
#include <stdint.h>

struct thread_clock {
    uint64_t run_ns, wait_ns; /* on a processor; in want of one */
    uint64_t slices;          /* times that it was given a processor */
};

/* Of one that sleeps none of them moves. */
static inline bool thread_clock_stands(const struct thread_clock *before,
                                       const struct thread_clock *now)
{
    return before->run_ns == now->run_ns && before->slices == now->slices &&
           before->wait_ns == now->wait_ns;
}

/* text: what stands in schedstat; ends with 0. False: it is none such, or the kernel keeps none. */
bool thread_clock_parse(const char *text, struct thread_clock *out);

enum share { SHARE_RUN, SHARE_WAIT, SHARE_SLEEP, SHARE_COUNT };

struct shares {
    struct thread_clock clock; /* at the last look */
    int64_t looked_ns;
    int64_t since_ns;  /* so long its clocks have told nothing of an awake thread */
    uint64_t slept_at; /* slices, when it was last seen asleep */
    bool was_awake;
    uint64_t run_ns, wait_ns; /* those of clock, with what was guessed */
    int64_t credit_ns[SHARE_COUNT];
};

/* The first look, since_ns after the thread began: what it did since then is due. */
void shares_begin(struct shares *shares, const struct thread_clock *clock, int64_t now_ns,
                  int64_t since_ns, bool awake);
/* tick_ns: between two of the kernel's ticks. */
void shares_look(struct shares *shares, const struct thread_clock *clock, int64_t now_ns,
                 int64_t tick_ns, bool awake);
/* Takes the rounds that are due, at most so many: how many of each kind. awake: as it was seen
 * now, which decides where the clocks do not. */
void shares_take(struct shares *shares, int64_t period_ns, uint32_t most, bool awake,
                 uint32_t counts[SHARE_COUNT]);
/* All rounds that are still due are dropped: how many. */
uint64_t shares_drop(struct shares *shares, int64_t period_ns);
/* Rounds that could not be told: they are due again. */
void shares_give_back(struct shares *shares, enum share share, uint32_t rounds, int64_t period_ns);

#endif
