/*
 * threads [COUNT] [CPU_SECONDS] - COUNT threads named spin-0, spin-1, ... burn CPU_SECONDS each
 * in thread_spin, at the same time; the main thread only waits.
 */
#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS_MAX = 256 };

static double seconds_each = 0.2;

void thread_spin(struct burn *burn);

__attribute__((noinline)) void thread_spin(struct burn *burn)
{
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds_each) {
        for (int i = 0; i < 100; i++)
            burn_rounds(burn, burn_draw(burn));
    }
}

static void *thread_main(void *argument)
{
    long number = (long)argument;
    struct burn burn = { .state = 88172645463325252u + (uint64_t)number };
    char name[16];

    snprintf(name, sizeof(name), "spin-%ld", number);
    pthread_setname_np(pthread_self(), name);
    thread_spin(&burn);
    return burn.state ? argument : NULL;
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 4;
    pthread_t threads[THREADS_MAX];

    if (argc > 2)
        seconds_each = atof(argv[2]);
    if (count < 1 || count > THREADS_MAX)
        return 2;
    for (long i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, thread_main, (void *)i) != 0)
            return 1;
    }
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("joined %ld threads\n", count);
    return 0;
}
