/*
 * own_sigprof - a program that profiles itself: SIGPROF every 10 ms of its CPU time, until its
 * handler has run 20 times. A sampler that took the signal or the timer would leave it spinning,
 * so it gives up, with status 1, after 10 s of CPU time.
 */
#include "burn.h"

#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

enum { TICKS = 20, PERIOD_US = 10000, GIVE_UP_S = 10 };

static volatile sig_atomic_t ticks;

static void on_sigprof(int signal)
{
    (void)signal;
    ticks++;
}

static int start_timer(void)
{
    struct sigaction action = { .sa_handler = on_sigprof, .sa_flags = SA_RESTART };
    struct itimerval timer = { .it_interval = { .tv_usec = PERIOD_US },
                               .it_value = { .tv_usec = PERIOD_US } };

    return sigaction(SIGPROF, &action, NULL) == 0 && setitimer(ITIMER_PROF, &timer, NULL) == 0;
}

static int still_mine(void)
{
    struct sigaction action;

    return sigaction(SIGPROF, NULL, &action) == 0 && action.sa_handler == on_sigprof;
}

int main(void)
{
    struct burn burn = { .state = 88172645463325252u };

    if (!start_timer())
        return 2;
    while (ticks < TICKS && cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < GIVE_UP_S)
        burn_rounds(&burn, burn_draw(&burn));
    printf("the handler ran %s times; SIGPROF is %s\n", ticks >= TICKS ? "enough" : "too few",
           still_mine() && burn.state ? "still ours" : "taken");
    return ticks >= TICKS && still_mine() ? 0 : 1;
}
