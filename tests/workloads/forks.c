/*
 * forks [CPU_SECONDS] - forks four workers that burn CPU_SECONDS each in worker_spin and exit
 * with 10, 11, 12 and 13; the parent burns as much in parent_spin, then waits for them.
 */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 4, FIRST_STATUS = 10 };

void worker_spin(double seconds);
void parent_spin(double seconds);

__attribute__((always_inline)) static inline void spin(double seconds, struct burn burn)
{
    double end = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) + seconds;

    while (burn.state && cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < end) {
        for (int i = 0; i < 100; i++)
            burn_rounds(&burn, burn_draw(&burn));
    }
}

__attribute__((noinline)) void worker_spin(double seconds)
{
    spin(seconds, (struct burn){ .state = 88172645463325252u });
}

__attribute__((noinline)) void parent_spin(double seconds)
{
    spin(seconds, (struct burn){ .state = 3333333333333u });
}

static int ended_as_told(pid_t pid, int status)
{
    int wait_status;

    return waitpid(pid, &wait_status, 0) == pid && WIFEXITED(wait_status) &&
           WEXITSTATUS(wait_status) == status;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 0.2;
    pid_t workers[WORKERS];
    int good = 0;

    for (int i = 0; i < WORKERS; i++) {
        workers[i] = fork();
        if (workers[i] < 0)
            return 1;
        if (workers[i] == 0) {
            worker_spin(seconds);
            _exit(FIRST_STATUS + i);
        }
    }
    parent_spin(seconds);
    for (int i = 0; i < WORKERS; i++)
        good += ended_as_told(workers[i], FIRST_STATUS + i);
    printf("%d of %d workers ended as told\n", good, WORKERS);
    return good == WORKERS ? 0 : 1;
}
