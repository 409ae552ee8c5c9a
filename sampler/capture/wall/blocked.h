/*
 * blocked.h - what a thread that does not run waits for, by the system call it is in.
 *
 *   /proc/self/task/TID/syscall -> blocked_read -> blocked_state
 *
 * Threads    The sampler's thread.
 * Errors     blocked_read: 0, or the kernel's -errno.
 * Source     proc_pid_syscall(5).
 */
#ifndef ISOSCOPE_BLOCKED_H
#define ISOSCOPE_BLOCKED_H

#include "../../feed/layout.h"

#include <stdbool.h>
#include <stdint.h>

struct blocked {
    bool runs;   /* or wants to: the rest is not known */
    long number; /* of the system call; -1: none, it waits for a page or was stopped */
    uint64_t sp, pc;
};

/* fd: of the thread's syscall file. */
int blocked_read(int fd, struct blocked *out);
/* text: what stands in that file; 0-terminated. False when it is none such. */
bool blocked_parse(const char *text, struct blocked *out);

/* number: of a system call. */
enum feed_state blocked_state(long number);

#endif
