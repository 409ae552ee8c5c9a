/*
 * thread_lengths COUNT MILLISECONDS AT_ONCE - COUNT threads that use so much CPU time each and end,
 * AT_ONCE of them beside each other.
 */
#include "../workloads/burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static double seconds_each;

static void *body(void *number)
{
    struct burn burn = { .state = 88172645463325252u + (uint64_t)(uintptr_t)number };

    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds_each)
        burn_rounds(&burn, 4000);
    return burn.state ? number : NULL;
}

int main(int argc, char **argv)
{
    long count, at_once;
    pthread_t *threads;

    if (argc != 4) {
        fprintf(stderr, "thread_lengths COUNT MILLISECONDS AT_ONCE\n");
        return 2;
    }
    count = atol(argv[1]);
    seconds_each = atof(argv[2]) / 1e3;
    at_once = atol(argv[3]);
    threads = calloc((size_t)at_once, sizeof *threads);
    for (long i = 0; threads && i < count; i += at_once) {
        for (long k = 0; k < at_once; k++)
            if (pthread_create(&threads[k], NULL, body, (void *)(i + k)) != 0)
                return 1;
        for (long k = 0; k < at_once; k++)
            pthread_join(threads[k], NULL);
    }
    free(threads);
    return 0;
}
