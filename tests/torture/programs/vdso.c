/* Most of the time in the vdso; time never runs backwards. */
#include "torture.h"

#include <sys/time.h>

static void *body(void *unused)
{
    struct timespec before = { 0, 0 }, now;
    struct timeval wall;

    for (int i = 0; i < 4000000; i++) {
        CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
        CHECK(now.tv_sec > before.tv_sec ||
              (now.tv_sec == before.tv_sec && now.tv_nsec >= before.tv_nsec));
        before = now;
        if (i % 8 == 0)
            CHECK(gettimeofday(&wall, NULL) == 0);
    }
    return unused;
}

int main(void)
{
    begin();
    run_threads(2, body, NULL);
    return fine();
}
