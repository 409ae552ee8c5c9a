/*
 * deep_recursion [DEPTH] [CPU_SECONDS] - calls descend DEPTH deep, then burns CPU_SECONDS in
 * spin_at_the_bottom: every stack has that leaf, and deep ones never show main.
 */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>

static double seconds = 0.2;

uint64_t spin_at_the_bottom(void);
uint64_t descend(long depth);

__attribute__((noinline)) uint64_t spin_at_the_bottom(void)
{
    struct burn burn = { .state = 88172645463325252u };

    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < seconds) {
        for (int i = 0; i < 100; i++)
            burn_rounds(&burn, burn_draw(&burn));
    }
    return burn.state;
}

__attribute__((noinline)) uint64_t descend(long depth)
{
    /* Added after the call returns, so that it is no tail call. */
    return (depth > 1 ? descend(depth - 1) : spin_at_the_bottom()) + (uint64_t)depth;
}

int main(int argc, char **argv)
{
    long depth = argc > 1 ? atol(argv[1]) : 5000;

    if (argc > 2)
        seconds = atof(argv[2]);
    printf("came back from %ld calls%s\n", depth, descend(depth) ? "" : "!");
    return 0;
}
