/*
 * among_idle SECONDS SPINNERS IDLE - a thread "works" that uses the processor for 3 ms and sleeps
 * for 7, beside SPINNERS threads that never rest and IDLE ones that never do anything. Prints which
 * shares of its time "works" ran and waited for a processor, as the kernel's clocks have it.
 */
#include "burn.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SLICE_MS = 3, NAP_MS = 7, REST_MS = 250, THREADS_MAX = 1024 };

struct clocks {
    double now, run, wait;
};

static double seconds = 1;
static _Atomic int ended;

static struct clocks clocks_now(void)
{
    struct clocks clocks = { .now = cpu_seconds(CLOCK_MONOTONIC) };
    FILE *file = fopen("/proc/thread-self/schedstat", "re");

    if (!file || fscanf(file, "%lf %lf", &clocks.run, &clocks.wait) != 2)
        exit(1);
    fclose(file);
    return clocks;
}

static void *works(void *unused)
{
    const struct timespec nap = { 0, NAP_MS * 1000 * 1000 }, rest = { 0, REST_MS * 1000 * 1000 };
    struct burn burn = { .state = 88172645463325252u };
    struct clocks first, last;
    double wall;

    (void)unused;
    pthread_setname_np(pthread_self(), "works");
    first = clocks_now();
    do {
        double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + SLICE_MS / 1e3;

        while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
            burn_rounds(&burn, burn_draw(&burn));
        nanosleep(&nap, NULL);
        last = clocks_now();
    } while (last.now - first.now < seconds);
    nanosleep(&rest, NULL); /* for who looks: the last that it did is told by then */
    last = clocks_now();
    wall = last.now - first.now;
    printf("%.4f %.4f\n", (last.run - first.run) / 1e9 / wall,
           (last.wait - first.wait) / 1e9 / wall);
    ended = 1;
    return NULL;
}

static void *spins(void *argument)
{
    struct burn burn = { .state = 1 + (uint64_t)(uintptr_t)argument };

    pthread_setname_np(pthread_self(), "spins");
    while (!ended)
        burn_rounds(&burn, burn_draw(&burn));
    return NULL;
}

static void *idles(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "idles");
    pause();
    return NULL;
}

int main(int argc, char **argv)
{
    int spinners = argc > 2 ? atoi(argv[2]) : 0, idle = argc > 3 ? atoi(argv[3]) : 0;
    pthread_t thread;

    if (argc > 1)
        seconds = atof(argv[1]);
    if (spinners + idle > THREADS_MAX)
        return 1;
    for (int i = 0; i < spinners + idle; i++)
        if (pthread_create(&thread, NULL, i < spinners ? spins : idles, (void *)(uintptr_t)i) != 0)
            return 1;
    if (pthread_create(&thread, NULL, works, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    return 0;
}
