/*
 * preload.h - what the files of this folder share.
 */
#ifndef ISOSCOPE_PRELOAD_H
#define ISOSCOPE_PRELOAD_H

#include "../late/late_calls.h"

#include <stdbool.h>
#include <stdint.h>

/* libc's own, or the next wrapper's. Another library's constructor may come before ours, so each
 * call looks for itself if nobody has yet. */
#define NEXT(name) __atomic_load_n(&next_##name, __ATOMIC_RELAXED)
#define FIND_NEXT(name)                                                                            \
    do {                                                                                           \
        if (!NEXT(name))                                                                           \
            __atomic_store_n(&next_##name, (__typeof__(next_##name))late_next(#name),              \
                             __ATOMIC_RELAXED);                                                    \
    } while (0)

/* signal_calls.c: before the sampler takes a signal. */
void preload_find_signal_calls(void);

/* sandbox_calls.c: syscall() is jumped to (preload_<arch>.S), but for the marked ones. */
enum { PRELOAD_MARKED_SYSCALLS = 512 };
extern long (*preload_next_syscall)(long, ...);
extern const uint8_t preload_syscall_marks[PRELOAD_MARKED_SYSCALLS];
void preload_find_syscall(void);
long preload_marked_syscall(long number, long a, long b, long c, long d, long e, long f);

/* descriptor_calls.c: no tick opens a file until sampler_unlock_to. False: nothing tends here, or
 * for too long. */
bool preload_keep_tending_away(uint64_t *mask);

/* limit_calls.c: a limit comes for the process; limit: the program's, or NULL. */
void preload_before_limit(long pid, long resource, const void *limit);

/* root_calls.c: / is another folder now, or may be. */
void preload_root_changed(void);

#endif
