/*
 * spin_two_to_one [CPU_SECONDS] - spin_twice takes 2/3 of the CPU time, spin_once 1/3.
 *
 * Each round of main draws a unit and burns it twice in the one and once in the other. How long
 * that took is told at the end, for processors do not make the same of the same loop everywhere:
 * the share of spin_twice, by the thread's own clock.
 */
#include "burn.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { UNITS_BETWEEN_LOOKS = 100 };

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

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 0.5;
    struct burn burn = { .state = 88172645463325252u };
    double twice = 0, once = 0;

    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < seconds) {
        for (int i = 0; i < UNITS_BETWEEN_LOOKS; i++) {
            uint32_t rounds = burn_draw(&burn);
            bool timed = i == 0; /* the clock costs time of its own */
            double begin = timed ? cpu_seconds(CLOCK_THREAD_CPUTIME_ID) : 0, middle;

            spin_twice(&burn, rounds);
            middle = timed ? cpu_seconds(CLOCK_THREAD_CPUTIME_ID) : 0;
            spin_once(&burn, rounds);
            twice += middle - begin;
            once += timed ? cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - middle : 0;
        }
    }
    /* Burnt numbers that nobody looks at would be no work to the compiler. */
    printf("%.6f%s\n", twice / (twice + once), burn.state ? "" : "!");
    return 0;
}
