/*
 * kernel_share [CPU_SECONDS] - 45 % of its CPU time is the kernel's, filling memory with zeros for
 * work_in_kernel; the rest is work_in_user's. The split is steered: after each piece the one that
 * is behind is next.
 */
#include "own_usage.h"

#include "../workloads/burn.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Pieces are long beside the look at the clock between them, which belongs to neither. */
enum { MEMORY_BYTES = 256 * 1024, READS = 16, DRAWS = 10 };

static const double KERNEL_SHARE = 0.45;
static char memory[MEMORY_BYTES];

int work_in_kernel(int zeros, struct burn *burn);
int work_in_user(struct burn *burn);

/* A signal ends a read of zeros early. */
static int read_all(int zeros, ssize_t left)
{
    ssize_t got = 1;

    for (; left > 0 && got > 0; left -= got)
        got = read(zeros, memory, (size_t)left);
    return got > 0;
}

__attribute__((noinline)) int work_in_kernel(int zeros, struct burn *burn)
{
    int good = 1;

    for (int i = 0; good && i < READS; i++)
        good = read_all(zeros, MEMORY_BYTES - (ssize_t)(burn_random(burn) % (MEMORY_BYTES / 2)));
    return good;
}

__attribute__((noinline)) int work_in_user(struct burn *burn)
{
    for (int i = 0; i < DRAWS; i++)
        burn_rounds(burn, burn_draw(burn));
    return 1;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1.0, start, end, kernel = 0;
    struct burn burn = { .state = 88172645463325252u };
    int zeros = open("/dev/zero", O_RDONLY), good = zeros >= 0;

    start = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    for (double first = start; good && start - first < seconds; start = end) {
        int in_kernel = kernel < KERNEL_SHARE * (start - first);

        good = in_kernel ? work_in_kernel(zeros, &burn) : work_in_user(&burn);
        end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
        if (in_kernel)
            kernel += end - start;
    }
    print_own_usage();
    return good ? 0 : 1;
}
