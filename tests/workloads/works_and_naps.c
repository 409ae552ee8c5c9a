/*
 * works_and_naps CPU_SECONDS - three threads "works-N" that never rest, and three "naps-N" that use
 * the processor for 5 ms and sleep for 30, until the process has used CPU_SECONDS.
 */
#include "burn.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 6, SLICE_MS = 5, NAP_MS = 30 };

static double seconds = 1;

static void *run(void *argument)
{
    const struct timespec nap = { 0, NAP_MS * 1000 * 1000 };
    long number = (long)argument;
    bool naps = number % 2;
    struct burn burn = { .state = 88172645463325252u + (uint64_t)number };
    char name[16];

    snprintf(name, sizeof(name), "%s-%d", naps ? "naps" : "works", (int)(number / 2) % 10);
    pthread_setname_np(pthread_self(), name);
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < seconds) {
        double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + SLICE_MS / 1e3;

        while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
            burn_rounds(&burn, burn_draw(&burn));
        if (naps)
            nanosleep(&nap, NULL);
    }
    return burn.state ? argument : NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];

    if (argc > 1)
        seconds = atof(argv[1]);
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)i) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
