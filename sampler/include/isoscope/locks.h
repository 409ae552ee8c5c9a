/*
 * locks.h - what a program's threads wait for: waits are sampled by their duration.
 *
 * `isoscope run --lock -- PROGRAM` does this for pthread's mutexes, locks of readers and writers,
 * condition variables and semaphores. A program with locks of its own making says so itself, where a
 * thread has found one taken:
 *
 *     uint64_t began = isoscope_wait_begin();
 *     ... sleep until it is free ...
 *     isoscope_wait_end(began, ISOSCOPE_WAIT_MUTEX, &lock, lock.holder);
 *
 * One wait in so many nanoseconds waited is sampled, on average (Poisson): its stack is taken when it
 * is over. The others cost two looks at the clock, and nothing while nothing is sampled.
 *
 * Units      Nanoseconds of CLOCK_MONOTONIC. holder: a thread's tid.
 * Threads    Any with thread-local memory.
 * Signals    Signal-safe.
 * Errors     None. What is sampled and cannot be kept is counted, and shown.
 */
#ifndef ISOSCOPE_LOCKS_H
#define ISOSCOPE_LOCKS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ISOSCOPE_API
#define ISOSCOPE_API __attribute__((visibility("default")))
#endif

enum isoscope_wait {
    ISOSCOPE_WAIT_MUTEX,
    ISOSCOPE_WAIT_READ,  /* for a lock of readers and writers, to read */
    ISOSCOPE_WAIT_WRITE, /* or to write */
    /* For what another thread is to do. It may be nothing but idle: */
    ISOSCOPE_WAIT_CONDITION,
    ISOSCOPE_WAIT_SEMAPHORE,
    ISOSCOPE_WAIT_FUTEX,
};

/* isoscope's: waits are sampled. */
ISOSCOPE_API extern uint32_t isoscope_waits_wanted;

ISOSCOPE_API uint64_t isoscope_wait_clock(void);
/* began_ns: of isoscope_wait_begin. lock: any address that stands for it, the same for all who wait
 * for it. holder: who had it when the wait began; 0: not known. */
ISOSCOPE_API void isoscope_wait_over(uint64_t began_ns, enum isoscope_wait what, const void *lock,
                                     int holder);

/* 0: nothing is sampled. */
static inline uint64_t isoscope_wait_begin(void)
{
    return __builtin_expect(__atomic_load_n(&isoscope_waits_wanted, __ATOMIC_RELAXED), 0)
               ? isoscope_wait_clock()
               : 0;
}

static inline void isoscope_wait_end(uint64_t began_ns, enum isoscope_wait what, const void *lock,
                                     int holder)
{
    if (began_ns)
        isoscope_wait_over(began_ns, what, lock, holder);
}

#ifdef __cplusplus
}
#endif

#endif
