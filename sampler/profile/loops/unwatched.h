/*
 * unwatched.h - threads that wait for descriptors by system calls of their own, past the wrapped calls: their loops
 * are not marked, and users are told.
 *
 *   watcher or collector (now and then) -> unwatched_look -> /proc/PID/task/TID/syscall of each thread without a loop
 *     -> seen LOOKS times in a row in a loop's wait, whose caller is not libc -> profile_unwatched
 *
 * A wait through libc or liburing has its pc in there, and was seen by the wrapper or will be; one made by a system
 * call instruction of the program's own has it elsewhere (Go, a static libc, inline assembly).
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds.
 * Ownership  unwatched_new makes one for a program, unwatched_free ends it.
 * Threads    unwatched_look: one at a time, subject living; unwatched_list: any.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_UNWATCHED_H
#define ISOSCOPE_UNWATCHED_H

#include "../stalls.h"

struct subject;
struct unwatched;

int unwatched_new(struct unwatched **out, struct subject *subject, uint64_t process_id);
void unwatched_free(struct unwatched *unwatched); /* NULL is fine */

/* Looks when UNWATCHED_PERIOD_NS have passed since the look before, else does nothing. True: another thread became
 * known. */
bool unwatched_look(struct unwatched *unwatched, int64_t now_ns);
/* As profile_unwatched, of this program. */
size_t unwatched_list(struct unwatched *unwatched, struct unwatched_thread *out, size_t capacity);

#endif
