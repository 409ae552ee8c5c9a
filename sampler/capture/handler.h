/*
 * handler.h - the tick: a clock's signal in the sampled thread, one sample into its ring.
 *
 *   user clock (SIGTRAP) -> handler_trap --> is it wanted? -> unwind -> ring
 *   CPU-time timer -------> handler_tick -/
 *
 * Where both clocks tick, the timer's ticks are samples only if they fell into the kernel, or their
 * thread has none yet: its user mode is the other clock's. In wall mode the timer's ticks answer
 * the rounds that found the thread on a processor.
 *
 * Signals    Both are signal handlers; everything they reach is SIGNAL_SAFE, and the test
 *            `signal_safe` proves it. A tick makes some system calls (thread id, CPU clocks) and
 *            reads the thread's own stack, its ring and the sampler's tables.
 */
#ifndef ISOSCOPE_HANDLER_H
#define ISOSCOPE_HANDLER_H

#include "../feed/signal_safe.h"

#include <signal.h>

SIGNAL_SAFE void handler_tick(int number, siginfo_t *info, void *context);
SIGNAL_SAFE void handler_trap(int number, siginfo_t *info, void *context);

#endif
