/* A library that takes four seconds to start, with the loader's lock in its thread's hands, and without a call of the kernel. */
#include <time.h>

__attribute__((constructor)) static void start(void)
{
    struct timespec now, began;

    clock_gettime(CLOCK_MONOTONIC, &began);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec - began.tv_sec < 4);
}
