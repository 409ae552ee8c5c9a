/*
 * many_loops.c - threads that live in event loops.
 *
 *     many_loops LOOPS MS    so many, a dispatch of some 100 us each MS; MS 0: none any more after the first hundred
 *
 * It writes "ready" when all loops are known, and runs until its input ends.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { KNOWN_AFTER = 100, WORK_NS = 100000, NS_PER_MS = 1000000 };

static long every_ms;
static _Atomic int known;

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 * NS_PER_MS + now.tv_nsec;
}

static void work(void)
{
    int64_t end_ns = now_ns() + WORK_NS;

    while (now_ns() < end_ns)
        ;
}

static void set_timer(int timer, long ms)
{
    struct timespec time = { ms / 1000, ms % 1000 * NS_PER_MS };

    timerfd_settime(timer, 0, &(struct itimerspec){ time, time }, NULL);
}

static void *live(void *argument)
{
    int poll = epoll_create1(EPOLL_CLOEXEC);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    struct epoll_event event = { .events = EPOLLIN };
    uint64_t times;

    (void)argument;
    epoll_ctl(poll, EPOLL_CTL_ADD, timer, &event);
    set_timer(timer, every_ms ? every_ms : 1);
    for (int i = 0;; i++) {
        if (epoll_wait(poll, &event, 1, -1) > 0 && read(timer, &times, sizeof(times)) > 0)
            work();
        if (i == KNOWN_AFTER) {
            atomic_fetch_add(&known, 1);
            set_timer(timer, every_ms);
        }
    }
    return NULL;
}

int main(int count, char **words)
{
    int loops = count > 1 ? atoi(words[1]) : 1;
    pthread_t thread;

    every_ms = count > 2 ? atol(words[2]) : 10;
    for (int i = 0; i < loops; i++)
        if (pthread_create(&thread, NULL, live, NULL))
            return 1;
    while (atomic_load(&known) < loops)
        nanosleep(&(struct timespec){ 0, NS_PER_MS }, NULL);
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}
