/*
 * wake.h - how another thread tells the service thread that there is something to do.
 *
 * Many wakes before the loop comes round are one.
 *
 * Ownership  wake_free after loop_free, and after the last thread that may call wake_now has ended.
 * Threads    wake_now: any. The rest: the service thread.
 * Errors     0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM.
 */
#ifndef ISOSCOPE_WAKE_H
#define ISOSCOPE_WAKE_H

struct loop;
struct wake;

int wake_new(struct wake **out);
void wake_free(struct wake *wake); /* NULL is fine */

/* woken runs in the loop. */
int wake_watch(struct wake *wake, struct loop *loop, void (*woken)(void *context), void *context);
void wake_now(void *wake); /* as profile_options.changed wants it */

#endif
