/*
 * bell.h - how a program that keeps no descriptor of ours wakes the service.
 *
 *   program: FUTEX_WAKE at the beginning of the tables' file, which all map -> bell -> rung
 *
 * A ring in the moment between two waits is lost: it only hastens a look that comes anyway.
 *
 * Threads    A thread of its own waits, and calls rung.
 * Errors     bell_new: 0, -ISOSCOPE_SYSTEM or -ISOSCOPE_NO_MEMORY.
 * Source     futex(2): the word is found by its file and place, so any process that maps it will
 *            do.
 */
#ifndef ISOSCOPE_BELL_H
#define ISOSCOPE_BELL_H

struct bell;

int bell_new(struct bell **out, const char *path, void (*rung)(void *context), void *context);
void bell_free(struct bell *bell); /* NULL is fine */

#endif
