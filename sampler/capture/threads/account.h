/*
 * account.h - which of a thread's CPU time its samples stand for.
 *
 * Ticks of the user clock share the thread's user time, ticks of the CPU-time timer that fell into
 * the kernel its system time. If each stood for the time since the last, the next user tick would
 * take the kernel's (a program with 38 % in read showed 8 %).
 *
 * A tick of the timer fell into the kernel when a system call ends right before its pc; or, in a
 * page fault, when system time is what has grown since the tick before, of either clock: its sample
 * stays with the code that faulted. The kernel's accounting and its timers come with the same
 * kernel tick, which it gives to one of the two.
 *
 * Units      CPU time of the thread, ns.
 * Threads    The handler, in the thread itself; then whoever ends its sampling.
 */
#ifndef ISOSCOPE_ACCOUNT_H
#define ISOSCOPE_ACCOUNT_H

#include "../../feed/signal_safe.h"
#include "../system/cpu_times.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct account {
    struct cpu_times counted;     /* by samples */
    struct cpu_times at_tick;     /* at the last tick, of either clock */
    uint64_t at_tick_ns;          /* the same, by the CPU clock */
    uint64_t due_ns;              /* of a user tick: nothing before it is taken */
    uint64_t timer_due_ns;        /* of one of the timer's */
    int64_t carry_ns;             /* of weights that were no whole periods */
    struct cpu_switches switches; /* at the last tick */
    bool late;       /* it began before anybody looked: its first tick only says where it is */
    uint8_t samples; /* of a thread that may end soon: 255 are many */
};

/* The kernel's tick that brought the timer's has found system time. */
SIGNAL_SAFE_INLINE bool account_is_system(const struct cpu_times *before,
                                          const struct cpu_times *now)
{
    return now->system_ns - before->system_ns > now->user_ns - before->user_ns;
}

SIGNAL_SAFE_INLINE uint64_t account_grown(uint64_t counted_ns, uint64_t now_ns)
{
    return now_ns > counted_ns ? now_ns - counted_ns : 0;
}

/* What a sample would stand for. */
SIGNAL_SAFE_INLINE uint64_t account_weight(const struct account *account,
                                           const struct cpu_times *now, bool user, bool system)
{
    return (user ? account_grown(account->counted.user_ns, now->user_ns) : 0) +
           (system ? account_grown(account->counted.system_ns, now->system_ns) : 0);
}

/* It is taken: that time is counted. */
SIGNAL_SAFE_INLINE void account_count(struct account *account, const struct cpu_times *now,
                                      bool user, bool system)
{
    if (user)
        account->counted.user_ns += account_grown(account->counted.user_ns, now->user_ns);
    if (system)
        account->counted.system_ns += account_grown(account->counted.system_ns, now->system_ns);
}

/* How many periods a sample stands for: then the number of samples tells the time as their weights
 * do. 0: too little; it is not taken, and its time is the next one's. carry_ns: of the thread, what
 * was told too little until now. */
SIGNAL_SAFE_INLINE uint32_t account_periods(int64_t *carry_ns, uint64_t weight_ns,
                                            uint32_t period_us, uint32_t most)
{
    int64_t period_ns = period_us * INT64_C(1000);
    int64_t owed_ns = *carry_ns + (int64_t)weight_ns;
    int64_t periods = (owed_ns + period_ns / 2) / period_ns;

    if (periods < 1)
        return 0;
    periods = periods > (int64_t)most ? (int64_t)most : periods;
    *carry_ns = owed_ns - periods * period_ns;
    return (uint32_t)periods;
}

/* Ticks that come more often than one is wanted are left out. */
SIGNAL_SAFE_INLINE bool account_is_due(uint64_t *due_ns, uint64_t now_ns, uint64_t wanted_us)
{
    uint64_t wanted_ns = wanted_us * 1000;

    if (now_ns + wanted_ns / 16 < *due_ns)
        return false;
    *due_ns = (*due_ns + wanted_ns > now_ns ? *due_ns : now_ns) + wanted_ns;
    return true;
}

#endif
