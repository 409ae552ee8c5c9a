/*
 * fixed_work THREADS - the same work each time, for ./dev bench attach: it waits for a line, works, and prints the CPU time that it took
 * and the wall time, in seconds.
 *
 * Half of it in heavy, a third in middle, a sixth in light, each twenty frames deep.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DEPTH = 20, ROUNDS = 4000, STEPS = 20000 };

static volatile uint64_t sink;

static double seconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void steps(int count)
{
    uint64_t sum = 0;

    for (int i = 0; i < count; i++)
        sum = sum * 6364136223846793005u + (uint64_t)i;
    sink += sum;
}

#define DEEP(name, parts)                                                                          \
    __attribute__((noinline)) static void name(int depth)                                          \
    {                                                                                              \
        if (depth)                                                                                 \
            name(depth - 1);                                                                       \
        else                                                                                       \
            steps((parts)*STEPS / 6);                                                              \
        sink++; /* no jump in place of the call */                                                 \
    }
DEEP(heavy, 3)
DEEP(middle, 2)
DEEP(light, 1)

static void *work(void *rounds)
{
    for (int i = 0; i < *(int *)rounds; i++) {
        heavy(DEPTH);
        middle(DEPTH);
        light(DEPTH);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1, rounds = 20 * ROUNDS / threads;
    pthread_t *all = calloc((size_t)threads, sizeof(*all));
    double began, cpu;

    puts("ready");
    fflush(stdout);
    if (getchar() == EOF)
        return 1;
    began = seconds(CLOCK_MONOTONIC);
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < threads; i++)
        pthread_create(&all[i], NULL, work, &rounds);
    for (int i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
    printf("%.4f %.4f\n", seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu,
           seconds(CLOCK_MONOTONIC) - began);
    free(all);
    return 0;
}
