/*
 * blocked.h - what a thread that does not run waits for, by the system call it is in.
 *
 *   /proc/PID/task/TID/syscall -> blocked_parse -> blocked_state
 *
 * Threads    Any.
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
    uint64_t arguments[6];
    uint64_t sp, pc; /* 0: it has no stack any more, and waits only for its parent */
};

/* text: what stands in the thread's syscall file; 0-terminated. False when it is none such. */
bool blocked_parse(const char *text, struct blocked *out);

/* number: of a system call. */
enum feed_state blocked_state(long number);

#endif
