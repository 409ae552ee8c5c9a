/*
 * lock_calls.c - pthread's mutexes, and its locks of readers and writers: what it costs a thread that
 * another one holds them.
 *
 * A look at the lock's word says whether it is free. A thread that finds it so goes on at once. Who
 * takes it between the look and the call makes for a wait that nobody sees; to try first would make
 * each lock dearer.
 */
#include "../include/isoscope/locks.h"
#include "next.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* preload.c knows by it that these are here. */
ISOSCOPE_API char isoscope_lock_calls;

/* Of glibc's mutex: in __kind; and in the word of one with a ceiling, which stays there. */
enum { KIND_ROBUST = 16, KIND_INHERITS = 32, KIND_CEILING = 64, CEILING_SHIFT = 19 };
/* Of glibc's rwlock: __readers. */
enum { WRITER_HOLDS = 2, READERS_SHIFT = 3 };
/* A holder has the word before it writes down who it is. */
enum { HOLDER_LOOKS = 64 };

static int load(const int *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static bool is_free(const pthread_mutex_t *mutex)
{
    return load(&mutex->__data.__lock) == 0;
}

/* Of those whose word is not nothing when nobody has them: with a ceiling, or their thread has ended. */
static bool is_taken(const pthread_mutex_t *mutex)
{
    unsigned int word = (unsigned int)load(&mutex->__data.__lock);

    if (load(&mutex->__data.__kind) & KIND_CEILING)
        return word & ((1u << CEILING_SHIFT) - 1);
    return word & FUTEX_TID_MASK;
}

/* The kernel gives one that inherits, or is robust, to the next thread by its word. */
static int holder_of(const pthread_mutex_t *mutex)
{
    int holder = 0;

    if (load(&mutex->__data.__kind) & (KIND_ROBUST | KIND_INHERITS))
        return load(&mutex->__data.__lock) & FUTEX_TID_MASK;
    for (int look = 0; look < HOLDER_LOOKS && !holder && !is_free(mutex); look++)
        holder = load(&mutex->__data.__owner);
    return holder;
}

/* What the thread has itself it does not wait for, whatever the call makes of it. */
static __thread int own_tid __attribute__((tls_model("initial-exec")));

static bool is_own(int holder)
{
    if (__builtin_expect(!own_tid, 0))
        own_tid = (int)syscall(SYS_gettid);
    return holder == own_tid;
}

static void in_forked_child(void)
{
    own_tid = 0;
}

static __attribute__((constructor)) void begin(void)
{
    pthread_atfork(NULL, NULL, in_forked_child);
}

#define MUTEX_CALL(name, type, parameters, arguments)                                              \
    static type *next_##name;                                                                      \
    SELDOM int name##_taken parameters                                                             \
    {                                                                                              \
        const pthread_mutex_t *mutex = (const pthread_mutex_t *)lock;                              \
        int holder = holder_of(mutex);                                                             \
        uint64_t began = !is_taken(mutex) || is_own(holder) ? 0 : isoscope_wait_begin();           \
        int result = NEXT(name) arguments;                                                         \
                                                                                                   \
        isoscope_wait_end(began, ISOSCOPE_WAIT_MUTEX, lock, holder);                               \
        return result;                                                                             \
    }                                                                                              \
    ISOSCOPE_API int name parameters                                                               \
    {                                                                                              \
        if (__builtin_expect(!is_free((const pthread_mutex_t *)lock), 0))                          \
            return name##_taken arguments;                                                         \
        return NEXT(name) arguments;                                                               \
    }

typedef int lock_call(pthread_mutex_t *);
typedef int timed_call(pthread_mutex_t *, const struct timespec *);
typedef int clock_call(pthread_mutex_t *, clockid_t, const struct timespec *);
typedef int c_lock_call(mtx_t *);
typedef int c_timed_call(mtx_t *, const struct timespec *);

MUTEX_CALL(pthread_mutex_lock, lock_call, (pthread_mutex_t * lock), (lock))
MUTEX_CALL(pthread_mutex_timedlock, timed_call,
           (pthread_mutex_t * lock, const struct timespec *until), (lock, until))
MUTEX_CALL(pthread_mutex_clocklock, clock_call,
           (pthread_mutex_t * lock, clockid_t clock, const struct timespec *until),
           (lock, clock, until))
/* C11's are the same in glibc, and call within. */
MUTEX_CALL(mtx_lock, c_lock_call, (mtx_t * lock), (lock))
MUTEX_CALL(mtx_timedlock, c_timed_call, (mtx_t * lock, const struct timespec *until), (lock, until))

static bool is_free_to_read(const pthread_rwlock_t *lock)
{
    return !(__atomic_load_n(&lock->__data.__readers, __ATOMIC_RELAXED) & WRITER_HOLDS);
}

static bool is_free_to_write(const pthread_rwlock_t *lock)
{
    unsigned int word = __atomic_load_n(&lock->__data.__readers, __ATOMIC_RELAXED);

    return !(word & WRITER_HOLDS) && !(word >> READERS_SHIFT);
}

/* Nobody writes down who reads. */
static int writer_of(const pthread_rwlock_t *lock)
{
    return load(&lock->__data.__cur_writer);
}

#define RWLOCK_CALL(name, type, is_free, what, parameters, arguments)                              \
    static type *next_##name;                                                                      \
    SELDOM int name##_taken parameters                                                             \
    {                                                                                              \
        int holder = writer_of(lock);                                                              \
        uint64_t began = isoscope_wait_begin();                                                    \
        int result = NEXT(name) arguments;                                                         \
                                                                                                   \
        isoscope_wait_end(began, what, lock, holder);                                              \
        return result;                                                                             \
    }                                                                                              \
    ISOSCOPE_API int name parameters                                                               \
    {                                                                                              \
        if (__builtin_expect(!is_free(lock), 0))                                                   \
            return name##_taken arguments;                                                         \
        return NEXT(name) arguments;                                                               \
    }

typedef int rw_call(pthread_rwlock_t *);
typedef int rw_timed_call(pthread_rwlock_t *, const struct timespec *);
typedef int rw_clock_call(pthread_rwlock_t *, clockid_t, const struct timespec *);

RWLOCK_CALL(pthread_rwlock_rdlock, rw_call, is_free_to_read, ISOSCOPE_WAIT_READ,
            (pthread_rwlock_t * lock), (lock))
RWLOCK_CALL(pthread_rwlock_wrlock, rw_call, is_free_to_write, ISOSCOPE_WAIT_WRITE,
            (pthread_rwlock_t * lock), (lock))
RWLOCK_CALL(pthread_rwlock_timedrdlock, rw_timed_call, is_free_to_read, ISOSCOPE_WAIT_READ,
            (pthread_rwlock_t * lock, const struct timespec *until), (lock, until))
RWLOCK_CALL(pthread_rwlock_timedwrlock, rw_timed_call, is_free_to_write, ISOSCOPE_WAIT_WRITE,
            (pthread_rwlock_t * lock, const struct timespec *until), (lock, until))
RWLOCK_CALL(pthread_rwlock_clockrdlock, rw_clock_call, is_free_to_read, ISOSCOPE_WAIT_READ,
            (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until),
            (lock, clock, until))
RWLOCK_CALL(pthread_rwlock_clockwrlock, rw_clock_call, is_free_to_write, ISOSCOPE_WAIT_WRITE,
            (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until),
            (lock, clock, until))
