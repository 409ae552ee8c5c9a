/*
 * tick_stack.h - stacks that ticks work on: those of the program may be small, or nearly full.
 *
 *   handler -> tick_stack_take -> arch_call_on -> tick_stack_give
 *
 * On an alternate signal stack of 8 KiB the kernel's frames of two signals take 7.1 KB (with
 * AVX-512). There are as many as ticks work at the same time, but for the rare one that finds none:
 * it works where it is, and does less.
 *
 * Threads    tick_stacks_forget_parent: a forked child. The rest: the handler, in any thread.
 * Signals    What is marked is SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_TICK_STACK_H
#define ISOSCOPE_TICK_STACK_H

#include "../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>

/* A fault's frame of the kernel has room behind all that a tick does: 3.6 KB with AVX-512, 11.9 with AMX. */
enum { TICK_STACKS = 8, TICK_STACK_BYTES = 24 * 1024 };

/* In a forked child: those that other threads were using are free. */
void tick_stacks_forget_parent(void);

/* The end of a free stack; NULL: all are in use, or there is no memory for them. The first tick
 * makes them. */
SIGNAL_SAFE void *tick_stack_take(void);
SIGNAL_SAFE void tick_stack_give(void *end);
/* Of the stack that the address lies in; TICK_STACKS: in none. */
SIGNAL_SAFE uint32_t tick_stack_number(uint64_t address);

#endif
