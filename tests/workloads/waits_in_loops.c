/*
 * waits_in_loops.c - event loops in each of libc's waits, and what may not change in these calls.
 *
 *     waits_in_loops CALL TIMES    so many waits in that call, at one place, for two descriptors that are ready
 *
 * "errors", "interrupted", "cancelled", "jumped", "forked": see there. Exit status 0: all was as it is without isoscope.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t bytes);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                const sigset_t *mask, size_t bytes);

enum { WAIT_MS = 20, PAGE = 4096 };

static int ready[2], epoll;
static const struct timespec moment = { 0, WAIT_MS * 1000 * 1000 };

static void open_descriptors(void)
{
    epoll = epoll_create1(0);
    for (int i = 0; i < 2; i++) {
        struct epoll_event event = { .events = EPOLLIN };

        ready[i] = eventfd(1, 0);
        epoll_ctl(epoll, EPOLL_CTL_ADD, ready[i], &event);
    }
}

/* Two are ready. */
static int wait_in(const char *call)
{
    struct pollfd polled[2] = { { ready[0], POLLIN, 0 }, { ready[1], POLLIN, 0 } };
    struct epoll_event events[2];
    struct timeval time = { 0, 20 * 1000 };
    fd_set set;
    int past = (ready[0] > ready[1] ? ready[0] : ready[1]) + 1;

    FD_ZERO(&set);
    FD_SET(ready[0], &set);
    FD_SET(ready[1], &set);
    if (!strcmp(call, "epoll_wait"))
        return epoll_wait(epoll, events, 2, WAIT_MS);
    if (!strcmp(call, "epoll_pwait"))
        return epoll_pwait(epoll, events, 2, WAIT_MS, NULL);
    if (!strcmp(call, "epoll_pwait2"))
        return epoll_pwait2(epoll, events, 2, &moment, NULL);
    if (!strcmp(call, "poll"))
        return poll(polled, 2, WAIT_MS);
    if (!strcmp(call, "poll_one"))
        return poll(polled, 1, WAIT_MS) + 1;
    if (!strcmp(call, "poll_chk"))
        return __poll_chk(polled, 2, WAIT_MS, sizeof polled);
    if (!strcmp(call, "ppoll"))
        return ppoll(polled, 2, &moment, NULL);
    if (!strcmp(call, "ppoll_chk"))
        return __ppoll_chk(polled, 2, &moment, NULL, sizeof polled);
    if (!strcmp(call, "syscall_epoll_pwait"))
        return (int)syscall(SYS_epoll_pwait, epoll, events, 2, WAIT_MS, NULL, 8);
    if (!strcmp(call, "syscall_ppoll"))
        return (int)syscall(SYS_ppoll, polled, 2, &(struct timespec){ 0, 1000 }, NULL, 8);
    if (!strcmp(call, "syscall_ppoll_one"))
        return (int)syscall(SYS_ppoll, polled, 1, NULL, NULL, 8) + 1;
    if (!strcmp(call, "select"))
        return select(past, &set, NULL, NULL, &time);
    if (!strcmp(call, "pselect"))
        return pselect(past, &set, NULL, NULL, &moment, NULL);
    return -1;
}

__attribute__((noinline)) static int loop(const char *call, int times)
{
    for (int i = 0; i < times; i++)
        if (wait_in(call) != 2)
            return 1;
    return 0;
}

/* What each says of a descriptor that is none, and of sets that are nowhere, or only half there; and errno of before stays
 * through a call that does not fail. */
static int errors(void)
{
    struct pollfd polled[2] = { { 999, POLLIN, 0 }, { 998, POLLIN, 0 } };
    struct epoll_event events[2];
    fd_set *nowhere = (fd_set *)sizeof(fd_set);
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fd_set *half = (fd_set *)(pages + PAGE - sizeof(fd_set) / 2);
    struct timeval instant = { 0, 1 };
    int good = munmap(pages + PAGE, PAGE) == 0;

    for (int i = 0; i < 20; i++) {
        good &= epoll_wait(999, events, 2, 0) == -1 && errno == EBADF;
        good &= poll(polled, 2, 0) == 2 && polled[0].revents == POLLNVAL;
        good &= syscall(SYS_epoll_pwait, 999, events, 2, 0, NULL, 8) == -1 && errno == EBADF;
        good &= syscall(SYS_ppoll, polled, 2, (void *)8, NULL, 8) == -1 && errno == EFAULT;
        good &= select(-1, NULL, NULL, NULL, NULL) == -1 && errno == EINVAL;
        good &= select(ready[1] + 1, nowhere, NULL, NULL, NULL) == -1 && errno == EFAULT;
        /* The kernel reads no further than the descriptors that there may be. */
        good &= select(FD_SETSIZE, NULL, half, NULL, &instant) <= 0;
        errno = 77;
        good &= wait_in("epoll_wait") == 2 && errno == 77;
        good &= wait_in("poll") == 2 && errno == 77;
    }
    return !good;
}

static volatile sig_atomic_t alarms;

static void count_alarm(int number)
{
    alarms += number == SIGALRM;
}

static void alarm_in_ms(long ms)
{
    const struct itimerval soon = { .it_value = { 0, ms * 1000 } };

    setitimer(ITIMER_REAL, &soon, NULL);
}

/* A signal's handler ends the wait with EINTR, each time. */
static int interrupted(void)
{
    const struct sigaction action = { .sa_handler = count_alarm, .sa_flags = SA_RESTART };
    int none = epoll_create1(0);
    struct epoll_event events[2];

    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < 10; i++) {
        alarm_in_ms(2);
        if (epoll_wait(none, events, 2, -1) != -1 || errno != EINTR || alarms != i + 1)
            return 1;
    }
    return 0;
}

static int cleaned;
static _Atomic int waits;

static void clean(void *unused)
{
    (void)unused;
    cleaned++;
}

static void *waits_for_ever(void *call)
{
    struct epoll_event events[2];
    int none = epoll_create1(0);
    struct pollfd polled[2] = { { none, POLLIN, 0 }, { none, POLLIN, 0 } };

    loop(strcmp(call, "poll") ? "epoll_wait" : "poll", 20);
    pthread_cleanup_push(clean, NULL);
    waits++;
    for (;;)
        if (strcmp(call, "poll"))
            epoll_wait(none, events, 2, -1);
        else
            poll(polled, 2, -1);
    pthread_cleanup_pop(0);
    return NULL;
}

/* A thread ends in the middle of its wait, and cleans up. */
static int cancelled(void)
{
    static const char *const calls[] = { "epoll_wait", "poll" };

    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        void *result;

        pthread_create(&thread, NULL, waits_for_ever, (void *)calls[i]);
        while (waits != i + 1)
            nanosleep(&moment, NULL);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED || cleaned != i + 1)
            return 1;
    }
    return 0;
}

static sigjmp_buf back;

static void jump_back(int number)
{
    siglongjmp(back, number);
}

/* A handler jumps out of the wait, and the loop goes on. */
static int jumped(void)
{
    static volatile int jumps;
    struct epoll_event events[2];
    int none = epoll_create1(0);

    signal(SIGALRM, jump_back);
    loop("epoll_wait", 20);
    if (sigsetjmp(back, 1))
        jumps++;
    if (jumps < 5) {
        alarm_in_ms(2);
        epoll_wait(none, events, 2, -1);
        return 1;
    }
    return loop("epoll_wait", 20);
}

/* A child of each kind waits too. */
static int forked(void)
{
    int status = 1;
    pid_t child;

    loop("epoll_wait", 20);
    child = fork();
    if (child == 0)
        _exit(loop("epoll_wait", 20));
    if (waitpid(child, &status, 0) != child || status)
        return 1;
    child = vfork();
    if (child == 0) {
        poll(NULL, 0, 1);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status)
        return 1;
    return loop("epoll_wait", 20);
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";

    open_descriptors();
    if (!strcmp(what, "errors"))
        return errors();
    if (!strcmp(what, "interrupted"))
        return interrupted();
    if (!strcmp(what, "cancelled"))
        return cancelled();
    if (!strcmp(what, "jumped"))
        return jumped();
    if (!strcmp(what, "forked"))
        return forked();
    return loop(what, count > 2 ? atoi(words[2]) : 100);
}
