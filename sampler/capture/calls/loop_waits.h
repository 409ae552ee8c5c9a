/*
 * loop_waits.h - around a wrapped call that waits for descriptors: what it tells of its thread's loop.
 *
 *     int poll(...)
 *     {
 *         struct loop_wait wait = LOOP_WAIT(POLL);
 *         bool is_loop = LOOP_WAIT_ENTER(wait, teaches);
 *         int result = NEXT(poll)(...);
 *
 *         if (is_loop)
 *             loop_thread_leave_wait();
 *         return result;
 *     }
 *
 * A thread that is cancelled in the call, or jumps out of it from a signal handler, leaves its loop idle. errno
 * is not touched. No frame is left to unwind.
 */
#ifndef ISOSCOPE_LOOP_WAITS_H
#define ISOSCOPE_LOOP_WAITS_H

#include "../loops/loop_thread.h"

/* Of the wrapper itself: its caller, and where its caller's stack ended. */
#define LOOP_WAIT(which)                                                                           \
    {                                                                                              \
        .site = (uintptr_t)__builtin_return_address(0), .frame = (uintptr_t)__builtin_dwarf_cfa(), \
        .kind = FEED_LOOP_##which                                                                  \
    }

/* An epoll descriptor, as a set. */
#define LOOP_EPOLL_SET(fd) ((uint32_t)(fd) + 1)

/* teaches: asked only when it matters. */
#define LOOP_WAIT_ENTER(wait, teaches_when)                                                        \
    (loop_thread_is_at(&(wait)) ||                                                                 \
             ((wait).teaches = (teaches_when), loop_thread_consider(&(wait)))                      \
         ? (loop_thread_enter_wait(), true)                                                        \
         : false)

/* The call, with the marks around it. */
#define LOOP_WAIT_AROUND(result, which, teaches_when, call)                                        \
    LOOP_WAIT_OF_SET_AROUND(result, which, 0, teaches_when, call)

/* set: as struct loop_wait has it. */
#define LOOP_WAIT_OF_SET_AROUND(result, which, of_set, teaches_when, call)                         \
    do {                                                                                           \
        struct loop_wait loop_wait_here = LOOP_WAIT(which);                                        \
        bool loop_wait_marks =                                                                     \
            LOOP_WAIT_ENTER(loop_wait_here, ((loop_wait_here).set = (of_set), teaches_when));      \
                                                                                                   \
        result = (call);                                                                           \
        if (loop_wait_marks)                                                                       \
            loop_thread_leave_wait();                                                              \
    } while (0)

/* epoll's and poll's waits by syscall(), for sandbox_calls.c. */
bool loop_waits_has_syscall(long number);
/* next: libc's syscall. wait: of syscall's caller. */
long loop_waits_by_syscall(long (*next)(long, ...), struct loop_wait *wait, long number, long a,
                           long b, long c, long d, long e, long f);

#endif
