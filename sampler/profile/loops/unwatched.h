/*
 * unwatched.h - threads that wait for descriptors by system calls of their own, past the wrapped calls: their loops
 * are not marked, and users are told.
 *
 *   watcher_round, in each of the collector's -> unwatched_look -> /proc/PID/task/TID/syscall of each thread without a loop
 *     -> met so often in a row in a loop's wait, at code that no wrapper is before -> profile_unwatched
 *
 * A wait through libc, or liburing, has its pc in there. One by a system call instruction of the program's own has it
 * elsewhere: Go, a static libc or liburing, inline assembly. io_uring_enter by libc's syscall() is one, too, for libc has
 * no such function; epoll's and poll's waits by syscall() are wrapped. What is not seen: select by syscall().
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds.
 * Ownership  unwatched_new makes one for a program, unwatched_free ends it. The subject lives longer.
 * Threads    unwatched_look: one at a time. unwatched_list: any, and profile_unwatched calls it.
 * Errors     unwatched_new: 0 or -ISOSCOPE_NO_MEMORY. Threads that cannot be looked at are not known.
 */
#ifndef ISOSCOPE_UNWATCHED_H
#define ISOSCOPE_UNWATCHED_H

#include "../stalls.h"

struct subject;
struct unwatched;

enum {
    UNWATCHED_MAX = 64,          /* threads that are told */
    UNWATCHED_THREADS_MAX = 256, /* that are looked at */
    UNWATCHED_LOOKS = 3,         /* in a row */
};

int unwatched_new(struct unwatched **out, struct subject *subject, uint64_t process_id);
void unwatched_free(struct unwatched *unwatched); /* NULL is fine */

/* Looks if it is time: a second after the first call, two, four, eight seconds after the look before, then each ten.
 * True: threads came, or went. */
bool unwatched_look(struct unwatched *unwatched, int64_t now_ns);
/* Returns how many there are; fills at most capacity. */
size_t unwatched_list(struct unwatched *unwatched, struct unwatched_thread *out, size_t capacity);

#endif
