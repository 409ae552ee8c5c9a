/*
 * wait_calls.c - condition variables, semaphores, and futexes by the call itself: a thread waits for
 * what another one is to do.
 *
 * Some are cancellation points: a thread that ends in the middle leaves nothing of ours behind.
 */
#include "../include/isoscope/locks.h"
#include "next.h"

#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define WAIT_CALL(name, type, what, object, parameters, arguments)                                 \
    static type *next_##name;                                                                      \
    ISOSCOPE_API int name parameters                                                               \
    {                                                                                              \
        uint64_t began = isoscope_wait_begin();                                                    \
        int result = NEXT(name) arguments;                                                         \
                                                                                                   \
        isoscope_wait_end(began, what, object, 0);                                                 \
        return result;                                                                             \
    }

typedef int wait_call(pthread_cond_t *, pthread_mutex_t *);
typedef int timed_call(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
typedef int clock_call(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
typedef int c_wait_call(cnd_t *, mtx_t *);
typedef int c_timed_call(cnd_t *, mtx_t *, const struct timespec *);

WAIT_CALL(pthread_cond_wait, wait_call, ISOSCOPE_WAIT_CONDITION, condition,
          (pthread_cond_t * condition, pthread_mutex_t *lock), (condition, lock))
WAIT_CALL(pthread_cond_timedwait, timed_call, ISOSCOPE_WAIT_CONDITION, condition,
          (pthread_cond_t * condition, pthread_mutex_t *lock, const struct timespec *until),
          (condition, lock, until))
WAIT_CALL(pthread_cond_clockwait, clock_call, ISOSCOPE_WAIT_CONDITION, condition,
          (pthread_cond_t * condition, pthread_mutex_t *lock, clockid_t clock,
           const struct timespec *until),
          (condition, lock, clock, until))
WAIT_CALL(cnd_wait, c_wait_call, ISOSCOPE_WAIT_CONDITION, condition,
          (cnd_t * condition, mtx_t *lock), (condition, lock))
WAIT_CALL(cnd_timedwait, c_timed_call, ISOSCOPE_WAIT_CONDITION, condition,
          (cnd_t * condition, mtx_t *lock, const struct timespec *until), (condition, lock, until))

typedef int sem_call(sem_t *);
typedef int sem_timed_call(sem_t *, const struct timespec *);
typedef int sem_clock_call(sem_t *, clockid_t, const struct timespec *);

/* One that has something to give is no wait. */
static bool gives(sem_t *semaphore)
{
    int value = 0;

    return !sem_getvalue(semaphore, &value) && value > 0;
}

#define SEM_CALL(name, type, parameters, arguments)                                                \
    static type *next_##name;                                                                      \
    ISOSCOPE_API int name parameters                                                               \
    {                                                                                              \
        uint64_t began = gives(semaphore) ? 0 : isoscope_wait_begin();                             \
        int result = NEXT(name) arguments;                                                         \
                                                                                                   \
        isoscope_wait_end(began, ISOSCOPE_WAIT_SEMAPHORE, semaphore, 0);                           \
        return result;                                                                             \
    }

SEM_CALL(sem_wait, sem_call, (sem_t * semaphore), (semaphore))
SEM_CALL(sem_timedwait, sem_timed_call, (sem_t * semaphore, const struct timespec *until),
         (semaphore, until))
SEM_CALL(sem_clockwait, sem_clock_call,
         (sem_t * semaphore, clockid_t clock, const struct timespec *until),
         (semaphore, clock, until))

/* Rust's locks, C++'s atomic waits, and others that make their own. */
static bool waits_for_futex(long number, long operation)
{
    int command = (int)operation & FUTEX_CMD_MASK;

    return number == SYS_futex && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET ||
                                   command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2);
}

static long (*next_syscall)(long, ...);

ISOSCOPE_API long syscall(long number, ...)
{
    uint64_t began;
    long a, b, c, d, e, f, result;
    va_list list;

    va_start(list, number);
    a = va_arg(list, long);
    b = va_arg(list, long);
    c = va_arg(list, long);
    d = va_arg(list, long);
    e = va_arg(list, long);
    f = va_arg(list, long);
    va_end(list);
    if (__builtin_expect(!waits_for_futex(number, b), 1))
        return NEXT(syscall)(number, a, b, c, d, e, f);
    began = isoscope_wait_begin();
    result = NEXT(syscall)(number, a, b, c, d, e, f);
    isoscope_wait_end(began, ISOSCOPE_WAIT_FUTEX, (const void *)a, 0);
    return result;
}
