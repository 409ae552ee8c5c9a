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

#include "../../feed/layout.h"
#include "../../feed/signal_safe.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Which sigaction to call; before all else here. */
void tick_signal_use(int (*call)(int, const struct sigaction *, struct sigaction *));
/* Takes the first signal that the program leaves alone and that is not in blocked, a kernel's
 * signal set, and installs handler for it. */
SIGNAL_SAFE int tick_signal_choose(void (*handler)(int, siginfo_t *, void *), uint64_t blocked);
/* As sigaction; past our own wrapper of it. */
SIGNAL_SAFE bool tick_signal_action(int number, const struct sigaction *action,
                                    struct sigaction *before);
/* The program's own handlers run on alternate stacks (its stacks may be small, as Go's and
 * OCaml's): so do those that are installed from now on. Where none does, nobody has to keep one
 * whole, and a tick on one that was freed would end the program. True: until now they did not. */
bool tick_signal_leave_stack(void);
/* What the calling thread blocks. */
uint64_t tick_signal_blocked(void);

/* Ticks may come by it. */
bool tick_signal_may_be(int number);
/* It came from one of our clocks. */
SIGNAL_SAFE bool tick_signal_is_tick(const siginfo_t *info);
/* What was taken, to where it was. */
SIGNAL_SAFE bool tick_signal_send_again(const siginfo_t *info);
/* A tick that waits, because the calling thread blocks its signal, goes. What somebody else sent
 * waits on: then it returns true. */
bool tick_signal_forget_waiting(int number);

static inline bool tick_signal_is_in(uint64_t set, int number)
{
    return set >> (number - 1) & 1;
}

/* False when somebody has changed the signal's action since. */
SIGNAL_SAFE bool tick_signal_ours(int number, void (*handler)(int, siginfo_t *, void *));
/* SIGTRAP too, for the user clock: not where the program ignores it, a debugger is attached, the
 * kernel is older than 5.18 (there a blocked trap kills), or the program goes past libc: what it
 * does to its signals would not be seen. One that waits since before exec is forgotten. before: the
 * action that handler takes the place of. Returns why not; FEED_TIMER_REASON_NONE: it is ours. */
enum feed_timer_reason tick_signal_take_trap(void (*handler)(int, siginfo_t *, void *),
                                             struct sigaction *before);
/* In the handler: the signal was none of ours, so it gets what it would have got without us. */
SIGNAL_SAFE void tick_signal_default(int number);

#endif
