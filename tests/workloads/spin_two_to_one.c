/*
 * spin_two_to_one [CPU_SECONDS] - spin_twice takes 2/3 of the CPU time, spin_once 1/3.
 *
 * Each round of main draws a unit and burns it twice in the one and once in the other. How long
 * that took is told at the end, for processors do not make the same of the same loop everywhere:
 * the share of spin_twice, by the thread's own clock; the median of some rounds, for that clock
 * runs on while a virtual machine does not.
 */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>

enum { UNITS_BETWEEN_LOOKS = 100, SHARES_MAX = 4096 };

static double shares[SHARES_MAX];

void spin_twice(struct burn *burn, uint32_t rounds);
void spin_once(struct burn *burn, uint32_t rounds);

__attribute__((noinline)) void spin_twice(struct burn *burn, uint32_t rounds)
{
    burn_rounds(burn, 2 * rounds);
}

__attribute__((noinline)) void spin_once(struct burn *burn, uint32_t rounds)
{
    burn_rounds(burn, rounds);
}

/* The share of spin_twice in this round. */
static double timed(struct burn *burn, uint32_t rounds)
{
    double begin = cpu_seconds(CLOCK_THREAD_CPUTIME_ID), middle;

    spin_twice(burn, rounds);
    middle = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    spin_once(burn, rounds);
    return (middle - begin) / (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - begin);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 0.5;
    struct burn burn = { .state = 88172645463325252u };
    unsigned count = 0;

    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < seconds) {
        shares[count++ % SHARES_MAX] = timed(&burn, burn_draw(&burn));
        for (int i = 1; i < UNITS_BETWEEN_LOOKS; i++) { /* the clock costs time of its own */
            uint32_t rounds = burn_draw(&burn);

            spin_twice(&burn, rounds);
            spin_once(&burn, rounds);
        }
    }
    if (count > SHARES_MAX)
        count = SHARES_MAX;
    qsort(shares, count, sizeof *shares, by_size);
    /* Burnt numbers that nobody looks at would be no work to the compiler. */
    printf("%.6f%s\n", shares[count / 2], burn.state ? "" : "!");
    return 0;
}
