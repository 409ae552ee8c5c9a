/*
 * Threads that wait for each other for ever, and others beside them, for test_dump_process.py.
 *
 *   first, second   each has a mutex and waits for the other's
 *   reader          waits for a lock that the main thread holds for writing
 *   joiner          joins first
 *   poller          waits in epoll_wait, and says so when an interrupt ended it
 *   spinner         computes
 *   main            sleeps in pause
 *
 * It prints "ready" when all have begun.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both;
static pthread_t first;

__attribute__((noinline)) static void lock_second_mutex(pthread_mutex_t *mutex)
{
    pthread_mutex_lock(mutex);
    __asm__ volatile("" ::: "memory"); /* no jump in place of the call */
}

static void lock_both(pthread_mutex_t *mine, pthread_mutex_t *its)
{
    pthread_mutex_lock(mine);
    pthread_barrier_wait(&both);
    lock_second_mutex(its);
}

static void *run_first(void *context)
{
    lock_both(&one, &other);
    return context;
}

static void *run_second(void *context)
{
    lock_both(&other, &one);
    return context;
}

static void *run_reader(void *context)
{
    pthread_rwlock_rdlock(&written);
    return context;
}

static void *run_joiner(void *context)
{
    pthread_join(first, NULL);
    return context;
}

static void *run_poller(void *context)
{
    int poll = epoll_create1(0);
    struct epoll_event event;

    while (epoll_wait(poll, &event, 1, -1) < 0 && errno == EINTR)
        puts("interrupted"), fflush(stdout);
    return context;
}

__attribute__((noinline)) static void spin(void)
{
    for (volatile unsigned long i = 0;; i++)
        ;
}

static void *run_spinner(void *context)
{
    spin();
    return context;
}

static pthread_t start(const char *name, void *(*run)(void *))
{
    pthread_t thread;

    pthread_create(&thread, NULL, run, NULL);
    pthread_setname_np(thread, name);
    return thread;
}

int main(void)
{
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    pthread_barrier_init(&both, NULL, 2);
    pthread_rwlock_wrlock(&written);
    first = start("first", run_first);
    start("second", run_second);
    start("reader", run_reader);
    start("joiner", run_joiner);
    start("poller", run_poller);
    start("spinner", run_spinner);
    puts("ready");
    fflush(stdout);
    pause();
    return 0;
}
