/*
 * waits [SECONDS] [SLEEPERS] - threads that do nothing but one thing each: "computes", "locked"
 * (waits for a mutex), "polls" (poll of 2 ms, again and again), "sleeps" (one nanosleep) and
 * "reads" (an empty pipe); and SLEEPERS more "naps" that sleep as well. Each in a function of its
 * name. Prints how many polls there were, and how many of them returned EINTR.
 */
#include "burn.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { POLL_MS = 2, SLEEPERS_MAX = 1024 };

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static int empty_pipe[2];
static double seconds = 1;
static _Atomic int ended;
static long polls, interrupted;

void computes(void);
void locked(void);
void polls_often(void);
void sleeps(void);
void reads(void);

__attribute__((noinline)) void computes(void)
{
    struct burn burn = { .state = 88172645463325252u };

    while (!ended)
        for (int i = 0; i < 100; i++)
            burn_rounds(&burn, burn_draw(&burn));
}

__attribute__((noinline)) void locked(void)
{
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    atomic_signal_fence(memory_order_seq_cst); /* no tail call: the function stays on the stack */
}

__attribute__((noinline)) void polls_often(void)
{
    while (!ended) {
        int status = poll(NULL, 0, POLL_MS);

        polls++;
        interrupted += status < 0 && errno == EINTR;
    }
}

__attribute__((noinline)) void sleeps(void)
{
    struct timespec rest = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };

    if (nanosleep(&rest, NULL) < 0)
        perror("nanosleep");
}

__attribute__((noinline)) void reads(void)
{
    char byte;

    if (read(empty_pipe[0], &byte, 1) < 0)
        perror("read");
}

struct task {
    const char *name;
    void (*run)(void);
};

static void *thread_main(void *argument)
{
    const struct task *task = argument;

    pthread_setname_np(pthread_self(), task->name);
    task->run();
    return argument;
}

int main(int argc, char **argv)
{
    static const struct task tasks[] = {
        { "computes", computes }, { "locked", locked }, { "polls", polls_often },
        { "reads", reads },       { "sleeps", sleeps },
    };
    enum { TASKS = sizeof(tasks) / sizeof(tasks[0]) };
    static const struct task nap = { "naps", sleeps };
    static pthread_t threads[TASKS], naps[SLEEPERS_MAX];
    long sleepers = argc > 2 ? atol(argv[2]) : 0;

    if (argc > 1)
        seconds = atof(argv[1]);
    if (sleepers > SLEEPERS_MAX || pipe(empty_pipe) < 0)
        return 2;
    pthread_mutex_lock(&held);
    for (int i = 0; i < TASKS; i++)
        if (pthread_create(&threads[i], NULL, thread_main, (void *)&tasks[i]) != 0)
            return 1;
    for (long i = 0; i < sleepers; i++)
        if (pthread_create(&naps[i], NULL, thread_main, (void *)&nap) != 0)
            return 1;
    sleeps();
    ended = 1;
    pthread_mutex_unlock(&held);
    close(empty_pipe[1]);
    for (int i = 0; i < TASKS; i++)
        pthread_join(threads[i], NULL);
    for (long i = 0; i < sleepers; i++)
        pthread_join(naps[i], NULL);
    printf("%ld polls, %ld interrupted\n", polls, interrupted);
    return 0;
}
