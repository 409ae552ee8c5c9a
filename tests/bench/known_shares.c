/*
 * known_shares [CPU_SECONDS] - burns 70 % of its work in spin_seventy, 20 % in spin_twenty and
 * 10 % in spin_ten; prints the CPU seconds that the kernel says it used.
 */
#include "own_usage.h"

#include "../workloads/burn.h"

#include <stdlib.h>

void spin_seventy(struct burn *burn, uint32_t rounds);
void spin_twenty(struct burn *burn, uint32_t rounds);
void spin_ten(struct burn *burn, uint32_t rounds);

__attribute__((noinline)) void spin_seventy(struct burn *burn, uint32_t rounds)
{
    burn_rounds(burn, 7 * rounds);
}

__attribute__((noinline)) void spin_twenty(struct burn *burn, uint32_t rounds)
{
    burn_rounds(burn, 2 * rounds);
}

__attribute__((noinline)) void spin_ten(struct burn *burn, uint32_t rounds)
{
    burn_rounds(burn, rounds);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1.0;
    struct burn burn = { .state = 88172645463325252u };

    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < seconds) {
        for (int i = 0; i < 20; i++) {
            uint32_t rounds = burn_draw(&burn) / 4;

            spin_seventy(&burn, rounds);
            spin_twenty(&burn, rounds);
            spin_ten(&burn, rounds);
        }
    }
    print_own_usage();
    return 0;
}
