/*
 * delay.h - a moment in the loop's future.
 *
 * Ownership  The descriptor is the loop's; delay_free after loop_free.
 * Threads    The service thread.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM.
 */
#ifndef ISOSCOPE_DELAY_H
#define ISOSCOPE_DELAY_H

#include <stdint.h>

struct loop;
struct delay;

int delay_new(struct delay **out, struct loop *loop, void (*due)(void *context), void *context);
void delay_free(struct delay *delay); /* NULL is fine */

/* Due once, in so many milliseconds; forgets an earlier moment. 0: not at all. */
void delay_set(struct delay *delay, uint32_t milliseconds);

#endif
