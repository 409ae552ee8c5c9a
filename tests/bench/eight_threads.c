/*
 * eight_threads [UNITS [THREADS]] - eight threads, or so many, do the same fixed work, some twenty
 * frames deep: what a profiler adds shows in the CPU time, for the work does not look at a clock.
 */
#include "../workloads/burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, THREADS_MAX = 64, DEPTH = 20 };

static long units = 30000;

uint64_t descend(struct burn *burn, int depth);

__attribute__((noinline)) uint64_t descend(struct burn *burn, int depth)
{
    uint64_t sum = burn->state;

    if (depth > 0)
        sum += descend(burn, depth - 1);
    else
        burn_rounds(burn, burn_draw(burn));
    return sum ^ burn->state; /* no tail call */
}

static void *work(void *argument)
{
    struct burn burn = { .state = 88172645463325252u + (uint64_t)(long)argument };
    uint64_t sum = 0;

    for (long i = 0; i < units; i++)
        sum += descend(&burn, DEPTH);
    return (void *)sum;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    long count = argc > 2 ? atol(argv[2]) : THREADS;
    uint64_t sum = 0;
    void *part;

    if (argc > 1)
        units = atol(argv[1]);
    if (count < 1 || count > THREADS_MAX)
        return 2;
    for (long i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
            return 1;
    }
    for (long i = 0; i < count; i++) {
        pthread_join(threads[i], &part);
        sum += (uint64_t)part;
    }
    printf("%lx\n", (unsigned long)sum);
    return 0;
}
