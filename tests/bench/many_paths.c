/*
 * many_paths [THREADS] - so many threads (8) that work and nap on ever new paths through eight
 * functions, until they are ended: a live view of them has the same work after an hour as at the start, if it
 * forgets what is gone.
 */
#include "../workloads/burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 8, THREADS_MAX = 64, DEPTH = 16, UNITS = 1500 /* some 15 ms */, NAP_MS = 100 };

typedef uint64_t part(struct burn *burn, int depth);

part part_0, part_1, part_2, part_3, part_4, part_5, part_6, part_7;

static part *const parts[] = {
    part_0, part_1, part_2, part_3, part_4, part_5, part_6, part_7,
};

static uint64_t work_and_nap(struct burn *burn)
{
    struct timespec nap = { .tv_nsec = NAP_MS * 1000000l };

    for (int i = 0; i < UNITS; i++)
        burn_rounds(burn, burn_draw(burn));
    nanosleep(&nap, NULL);
    return burn->state;
}

static uint64_t go_on(struct burn *burn, int depth)
{
    uint64_t sum = burn->state;

    if (depth > 0)
        sum += parts[burn_random(burn) % 8](burn, depth - 1);
    else
        sum += work_and_nap(burn);
    return sum ^ burn->state; /* no tail call */
}

#define PART(name)                                                                                 \
    __attribute__((noinline)) uint64_t name(struct burn *burn, int depth)                          \
    {                                                                                              \
        return go_on(burn, depth);                                                                 \
    }

PART(part_0)
PART(part_1)
PART(part_2)
PART(part_3)
PART(part_4)
PART(part_5)
PART(part_6)
PART(part_7)

static void *work(void *argument)
{
    struct burn burn = { .state = 88172645463325252u + (uint64_t)(long)argument };
    uint64_t sum = 0;

    for (;;)
        sum += go_on(&burn, DEPTH);
    return (void *)sum;
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : THREADS;
    pthread_t threads[THREADS_MAX];

    if (count < 1 || count > THREADS_MAX)
        return 2;
    for (long i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0) {
            fprintf(stderr, "many_paths: no thread\n");
            return 1;
        }
    }
    pthread_join(threads[0], NULL);
    return 0;
}
