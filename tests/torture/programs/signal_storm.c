/* signal_storm QUEUED: a thread is sent queued signals as fast as they go, so many waiting at most;
 * each arrives once, and the work under it comes out right. The kernel looks for a tick behind all
 * that waits. */
#include "torture.h"

#include <signal.h>

enum { SIGNALS = 60000, WORK = 3000 };

static _Atomic int seen, done;

static void count(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    CHECK(info->si_code == SI_QUEUE && info->si_value.sival_int == 42);
    seen++;
}

static void *target(void *unused)
{
    unsigned long expected = burn(7, WORK);

    while (!done)
        CHECK(burn(7, WORK) == expected);
    return unused;
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };
    pthread_t thread;

    int queued_max = argc > 1 ? atoi(argv[1]) : SIGNALS;

    begin();
    action.sa_sigaction = count;
    CHECK(sigaction(SIGRTMIN + 1, &action, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, target, NULL) == 0);
    for (int i = 0; i < SIGNALS; i++) {
        int error;

        while (i - seen >= queued_max)
            sched_yield();
        while ((error = pthread_sigqueue(thread, SIGRTMIN + 1, (union sigval){ 42 })) == EAGAIN)
            sched_yield();
        CHECK(error == 0);
    }
    while (seen < SIGNALS)
        sched_yield();
    done = 1;
    CHECK(pthread_join(thread, NULL) == 0 && seen == SIGNALS);
    return fine();
}
