/* own_usage.h - what getrusage says of this process, printed for the one who profiles it. */
#ifndef ISOSCOPE_TESTS_OWN_USAGE_H
#define ISOSCOPE_TESTS_OWN_USAGE_H

#include <stdio.h>
#include <sys/resource.h>

static inline double timeval_seconds(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static inline void print_own_usage(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    printf("cpu_seconds %.6f system_seconds %.6f\n",
           timeval_seconds(&usage.ru_utime) + timeval_seconds(&usage.ru_stime),
           timeval_seconds(&usage.ru_stime));
}

#endif
