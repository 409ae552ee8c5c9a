/*
 * thread_stop.h - one thread of another process, stopped for as long as its registers and its stack take to copy.
 *
 * ptrace, SEIZE and INTERRUPT: a signal that comes meanwhile is handed on, and a process that a signal had stopped
 * stays stopped.
 *
 * Threads    One at a time.
 */
#ifndef ISOSCOPE_THREAD_STOP_H
#define ISOSCOPE_THREAD_STOP_H

#include "stack_registers.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct stack_copy {
    uint8_t *bytes; /* room, of the caller's */
    size_t room;
    uint64_t at, count; /* what was copied */
};

/* What is to be done while the thread stands still; it is held for as long. NULL: nothing. */
struct stopped_look {
    void (*look)(void *context, const struct stack_registers *registers,
                 const struct stack_copy *copy);
    void *context;
};

/* Returns 0, or an errno: ESRCH: it has ended; EPERM: the kernel refuses, or it has a tracer; ETIMEDOUT: it did not stop. */
int thread_stop(pid_t pid, pid_t tid, struct stack_registers *out, struct stack_copy *copy,
                const struct stopped_look *look, uint64_t *stopped_ns);

#endif
