/*
 * tick_signal.h - which signal the timers send.
 *
 * One whose default action is to be ignored comes first: a tick that was sent just before the
 * program calls exec is delivered to the new program, which has no handler and must not die of it.
 * Real-time signals are out: when their queue is full the kernel sends SIGIO instead, which kills.
 *
 * What is taken is never given back: a tick may still be on its way, and would kill. The handlers
 * know what is none of theirs.
 *
 * Errors     tick_signal_choose: the signal, or 0 when there is none.
 */
#ifndef ISOSCOPE_TICK_SIGNAL_H
#define ISOSCOPE_TICK_SIGNAL_H

#include "../../feed/signal_safe.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Which sigaction to call, where another stands in libc's place. */
void tick_signal_use(int (*call)(int, const struct sigaction *, struct sigaction *));
/* Takes the first signal that the program leaves alone and that is not in blocked, a kernel's
 * signal set, and installs handler for it. */
int tick_signal_choose(void (*handler)(int, siginfo_t *, void *), uint64_t blocked);
/* What the calling thread blocks. */
uint64_t tick_signal_blocked(void);

static inline bool tick_signal_is_in(uint64_t set, int number)
{
    return set >> (number - 1) & 1;
}

/* False when somebody has changed the signal's action since. */
bool tick_signal_ours(int number, void (*handler)(int, siginfo_t *, void *));
/* SIGTRAP too, for perf events that trap: not where the program handles it, a debugger is attached,
 * the kernel is older than 5.18 (there a blocked trap kills), or the program goes past libc: what
 * it does to its signals, and its execs, would not be seen. */
bool tick_signal_take_trap(void (*handler)(int, siginfo_t *, void *));
/* A trap that counts in the kernel may wait there, as long as its thread sleeps. Before Linux 6.15
 * (its commit 56799bc03565) whoever closes the event may have to wait as long. */
bool tick_signal_trap_in_kernel(void);
/* A debugger is attached to this process. */
bool tick_signal_traced(void);
/* Signals that wait for this user's processes; 0 when /proc does not say. */
uint32_t tick_signal_queued(void);
/* In the handler: the signal was none of ours, so it gets what it would have got without us. */
SIGNAL_SAFE void tick_signal_default(int number);

#endif
