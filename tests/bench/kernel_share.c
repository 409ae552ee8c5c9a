/*
 * kernel_share [CPU_SECONDS] - about 45 % of its CPU time is the kernel's, filling memory with
 * zeros for work_in_kernel; the rest is work_in_user's. Prints the share by its own clock.
 *
 * Which piece is next is left to chance, not to the clock: a program that makes up for what a tick
 * took steers the next tick away from where the last one was.
 */
#include "own_usage.h"

#include "../workloads/burn.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Pieces are long beside the look at the clock between them, which belongs to neither. */
enum { MEMORY_BYTES = 256 * 1024, READS = 16, DRAWS = 10, TRIALS = 20 };

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

/* What pieces of one kind took so far; [1] is the kernel's. */
struct taken {
    double seconds;
    unsigned long pieces;
};

static int work(int in_kernel, int zeros, struct burn *burn, struct taken *taken)
{
    double start = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    int good = in_kernel ? work_in_kernel(zeros, burn) : work_in_user(burn);

    taken->seconds += cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    taken->pieces++;
    return good;
}

/* The mean of thousands of pieces: no single tick moves it. */
static int chance(struct burn *burn, const struct taken taken[2])
{
    double kernel = KERNEL_SHARE * taken[0].seconds / (double)taken[0].pieces;
    double user = (1 - KERNEL_SHARE) * taken[1].seconds / (double)taken[1].pieces;

    return (double)(burn_random(burn) % 1000) < 1000 * kernel / (kernel + user);
}

int main(int argc, char **argv)
{
    double limit = argc > 1 ? atof(argv[1]) : 1.0;
    struct burn burn = { .state = 88172645463325252u };
    struct taken taken[2] = { 0 };
    int zeros = open("/dev/zero", O_RDONLY), good = zeros >= 0;

    for (int i = 0; good && i < 2 * TRIALS; i++)
        good = work(i % 2, zeros, &burn, &taken[i % 2]);
    while (good && taken[0].seconds + taken[1].seconds < limit) {
        int in_kernel = chance(&burn, taken);

        good = work(in_kernel, zeros, &burn, &taken[in_kernel]);
    }
    printf("kernel_share %.6f ", taken[1].seconds / (taken[0].seconds + taken[1].seconds));
    print_own_usage();
    return good ? 0 : 1;
}
