/*
 * periodic [PERIOD_US] [CPU_SECONDS] - each PERIOD_US of the thread's CPU time begin with 30 % in
 * first_part and go on with second_part. A sampler in step with it would always see the same one.
 */
#include "own_usage.h"

#include "../workloads/burn.h"

#include <stdlib.h>

static const double FIRST_SHARE = 0.3;

void first_part(struct burn *burn, double until);
void second_part(struct burn *burn, double until);

__attribute__((noinline)) void first_part(struct burn *burn, double until)
{
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < until)
        burn_rounds(burn, 1000);
}

__attribute__((noinline)) void second_part(struct burn *burn, double until)
{
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < until)
        burn_rounds(burn, 1000);
}

int main(int argc, char **argv)
{
    double period = (argc > 1 ? atof(argv[1]) : 1000.0) / 1e6;
    double seconds = argc > 2 ? atof(argv[2]) : 1.0;
    double start = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    struct burn burn = { .state = 88172645463325252u };

    for (double at = start; at < start + seconds; at += period) {
        first_part(&burn, at + FIRST_SHARE * period);
        second_part(&burn, at + period);
    }
    print_own_usage();
    return 0;
}
