/* waits_for_signals sigwait|signalfd few|all: a thread takes signals one by one, from a set of two
 * or of all there are, and works in between. It gets what was sent to it and nothing else. */
#include "torture.h"

#include <signal.h>
#include <sys/signalfd.h>

enum { SIGNALS = 600 };

/* SIGRTMAX says the end: the kernel hands lower numbers out first. */
static sigset_t waited;
static bool by_fd;

static int next_signal(int fd)
{
    struct signalfd_siginfo info;
    int number;

    if (!by_fd) {
        CHECK(sigwait(&waited, &number) == 0);
        return number;
    }
    CHECK(read(fd, &info, sizeof info) == sizeof info);
    return (int)info.ssi_signo;
}

static void *taker(void *unused)
{
    int fd = by_fd ? signalfd(-1, &waited, SFD_CLOEXEC) : -1;

    for (int i = 0; i < SIGNALS; i++) {
        int number = next_signal(fd);

        if (number != SIGRTMIN)
            dprintf(STDERR_FILENO, "signal %d after %d\n", number, i);
        CHECK(number == SIGRTMIN);
        spin_us(400);
    }
    CHECK(next_signal(fd) == SIGRTMAX);
    if (by_fd)
        close(fd);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    begin();
    CHECK(argc == 3);
    by_fd = !strcmp(argv[1], "signalfd");
    sigfillset(&waited);
    CHECK(pthread_sigmask(SIG_SETMASK, &waited, NULL) == 0);
    if (!strcmp(argv[2], "few")) {
        sigemptyset(&waited);
        sigaddset(&waited, SIGRTMIN);
        sigaddset(&waited, SIGRTMAX);
    }
    CHECK(pthread_create(&thread, NULL, taker, NULL) == 0);
    for (int i = 0; i < SIGNALS; i++) {
        while (pthread_sigqueue(thread, SIGRTMIN, (union sigval){ .sival_int = i }) == EAGAIN)
            sched_yield();
        spin_us(300);
    }
    CHECK(pthread_kill(thread, SIGRTMAX) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    return fine();
}
