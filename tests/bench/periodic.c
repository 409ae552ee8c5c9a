/*
 * periodic [PERIOD_US] [CPU_SECONDS] - each PERIOD_US of the thread's CPU time begin with 30 % in
 * first_part and go on with second_part. A sampler in step with it would always see the same one.
 * Prints the share of the first by its own clock. It looks at that seldom: the time of system calls
 * is met by the kernel's tick, which nothing moves.
 */
#include "own_usage.h"

#include "../workloads/burn.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS_A_LOOK = 8000 };
static const double FIRST_SHARE = 0.3;

void first_part(struct burn *burn, double until);
void second_part(struct burn *burn, double until);

__attribute__((noinline)) void first_part(struct burn *burn, double until)
{
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < until)
        burn_rounds(burn, ROUNDS_A_LOOK);
}

__attribute__((noinline)) void second_part(struct burn *burn, double until)
{
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < until)
        burn_rounds(burn, ROUNDS_A_LOOK);
}

int main(int argc, char **argv)
{
    double period = (argc > 1 ? atof(argv[1]) : 1000.0) / 1e6;
    double seconds = argc > 2 ? atof(argv[2]) : 1.0;
    double start = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    struct burn burn = { .state = 88172645463325252u };
    double begin = start, middle, first = 0;

    for (double at = start; at < start + seconds; at += period) {
        first_part(&burn, at + FIRST_SHARE * period);
        middle = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
        first += middle - begin;
        second_part(&burn, at + period);
        begin = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    }
    printf("first_part_share %.4f ", first / (begin - start));
    print_own_usage();
    return 0;
}
