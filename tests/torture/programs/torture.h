/*
 * torture.h - what the torture programs share.
 *
 * Each does one thing that breaks samplers, checks that its own results are right, and says "fine".
 * They know nothing of isoscope and are right without it: torture.py runs them both ways.
 */
#ifndef TORTURE_H
#define TORTURE_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STATUS_CHECK_FAILED = 1, STATUS_NOT_HERE = 77, THREADS_MAX = 64 };

/* A function that the samples must show under its own name. */
#ifdef __clang__
#define HOT __attribute__((noinline, unused))
#else
#define HOT __attribute__((noipa, unused))
#endif

#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

__attribute__((noreturn)) static inline void check_failed(const char *file, int line,
                                                          const char *condition)
{
    dprintf(STDERR_FILENO, "%s:%d: not so: %s (errno %d)\n", file, line, condition, errno);
    _exit(STATUS_CHECK_FAILED);
}

static inline unsigned long burn(unsigned long state, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

static inline double cpu_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* CPU time of the calling thread. */
HOT static void spin_us(long microseconds)
{
    double end = cpu_s() + (double)microseconds / 1e6;
    volatile unsigned long state = 88172645463325252ul;

    do
        state = burn(state, 4000);
    while (cpu_s() < end);
}

HOT static void spin(int milliseconds)
{
    spin_us(milliseconds * 1000L);
    __asm__ volatile(""); /* no tail call: this frame is looked for */
}

static inline void sleep_us(long microseconds)
{
    struct timespec left = { microseconds / 1000000, microseconds % 1000000 * 1000 };

    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

/* Needs no /proc. */
static inline int open_fds(void)
{
    int count = 0;

    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* At main's start: nobody may have opened anything for us. */
static inline void begin(void)
{
    CHECK(open_fds() == 3);
}

/* At the end: nothing is left open. */
static inline int fine(void)
{
    CHECK(open_fds() == 3);
    CHECK(puts("fine") >= 0 && fflush(stdout) == 0);
    return 0;
}

/* At the start: this machine or user cannot run it. torture.py tells why. */
static inline int not_here(const char *why)
{
    CHECK(printf("not here: %s\n", why) > 0 && fflush(stdout) == 0);
    return STATUS_NOT_HERE;
}

static inline void run_threads(int count, void *(*body)(void *), void *argument)
{
    pthread_t threads[THREADS_MAX];

    CHECK(count <= THREADS_MAX);
    for (int i = 0; i < count; i++)
        CHECK(pthread_create(&threads[i], NULL, body, argument) == 0);
    for (int i = 0; i < count; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static inline bool ends_with(pid_t pid, int status)
{
    int wait_status;

    return waitpid(pid, &wait_status, 0) == pid && WIFEXITED(wait_status) &&
           WEXITSTATUS(wait_status) == status;
}

#endif
