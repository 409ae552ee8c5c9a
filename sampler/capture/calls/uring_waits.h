/*
 * uring_waits.h - io_uring_enter by syscall(), for sandbox_calls.c.
 */
#ifndef ISOSCOPE_URING_WAITS_H
#define ISOSCOPE_URING_WAITS_H

#include "../loops/loop_thread.h"

/* next: libc's syscall. wait: of syscall's caller. */
long uring_waits_by_syscall(long (*next)(long, ...), struct loop_wait *wait, long fd, long submit,
                            long least, long flags, long mask, long mask_bytes);

#endif
