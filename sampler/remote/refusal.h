/*
 * refusal.h - why a process cannot be read from outside, in words for who typed its number.
 *
 * The text names what was wrong and what to do.
 *
 * Threads    Any.
 */
#ifndef ISOSCOPE_REFUSAL_H
#define ISOSCOPE_REFUSAL_H

#include <stdbool.h>
#include <sys/types.h>

struct refusal {
    char text[512]; /* without the last newline */
};

/* Always false, for who returns so. */
bool refusal_say(struct refusal *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* False: what is wrong with this pid before anything is tried. It does not exist, is a zombie, a thread of the kernel, of another
 * architecture or another user, or has a tracer. */
bool refusal_look(struct refusal *out, pid_t pid);

/* Whether its memory and its registers may be read: for all but perf. */
bool refusal_look_inside(struct refusal *out, pid_t pid);

#endif
