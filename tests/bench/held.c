/*
 * held THREADS - sleeping threads, and a last one that looks at the clock all the time: how long is it held?
 *
 * At each line on standard input it prints, in microseconds, the sum of all gaps over 5 us in its looks since the line
 * before, and the longest. Another program that needs the processor makes gaps as well.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { GAP_NS = 5000, STACK_BYTES = 65536 };

static _Atomic int64_t sum_ns, longest_ns;

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

__attribute__((noinline)) static void look(void)
{
    int64_t last = now_ns();

    for (;;) {
        int64_t now = now_ns(), gap = now - last;

        last = now;
        if (gap < GAP_NS)
            continue;
        sum_ns += gap;
        if (gap > longest_ns)
            longest_ns = gap;
    }
}

static void *run_looker(void *context)
{
    look();
    return context;
}

static void *run_sleeper(void *context)
{
    for (;;)
        pause();
    return context;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    pthread_attr_t small;
    pthread_t thread;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_BYTES);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread, &small, i ? run_sleeper : run_looker, NULL) != 0)
            return 1;
    puts("ready");
    for (int letter; fflush(stdout), (letter = getchar()) != EOF;)
        if (letter == '\n')
            printf("%.1f %.1f\n", (double)atomic_exchange(&sum_ns, 0) / 1e3,
                   (double)atomic_exchange(&longest_ns, 0) / 1e3);
    return 0;
}
