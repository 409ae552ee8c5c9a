/* eintr PER_MILLE: calls that SA_RESTART does not restart, each sleeping 1 ms between 20 us of
 * work. How many see EINTR, per mille; more than asked is a failure. */
#include "torture.h"

#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>

enum { CALLS = 800, WORK_ROUNDS = 5000 };

static int by_poll(void)
{
    return poll(NULL, 0, 1);
}

static int by_nanosleep(void)
{
    struct timespec time = { 0, 1000000 };

    return nanosleep(&time, NULL);
}

static int by_sem(void)
{
    static __thread sem_t never;
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return sem_timedwait(&never, &until);
}

static int by_epoll(void)
{
    static int fd = -1;
    struct epoll_event event;

    if (fd < 0)
        fd = epoll_create1(EPOLL_CLOEXEC);
    return epoll_wait(fd, &event, 1, 1);
}

static struct way {
    const char *name;
    int (*call)(void);
    int interrupted;
} ways[] = { { "poll", by_poll, 0 },
             { "nanosleep", by_nanosleep, 0 },
             { "sem_timedwait", by_sem, 0 },
             { "epoll_wait", by_epoll, 0 } };

static void *body(void *way)
{
    struct way *mine = way;
    volatile unsigned long state = 1;

    for (int i = 0; i < CALLS; i++) {
        state = burn(state, WORK_ROUNDS);
        errno = 0;
        mine->interrupted += mine->call() < 0 && errno == EINTR;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    enum { WAYS = sizeof ways / sizeof ways[0] };
    pthread_t threads[WAYS];
    bool good = true;

    CHECK(argc == 2);
    for (int i = 0; i < WAYS; i++)
        CHECK(pthread_create(&threads[i], NULL, body, &ways[i]) == 0);
    for (int i = 0; i < WAYS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < WAYS; i++) {
        printf("%s: %d of %d see EINTR\n", ways[i].name, ways[i].interrupted, CALLS);
        good &= ways[i].interrupted * 1000 <= atoi(argv[1]) * CALLS;
    }
    fflush(stdout);
    CHECK(good);
    puts("fine");
    return 0;
}
