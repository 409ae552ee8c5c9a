/* Threads on the smallest stacks that libc gives, half used by themselves. */
#include "torture.h"

#include <limits.h>

static _Atomic int ran;

HOT static void *small(void *unused)
{
    volatile char used[4096];

    memset((char *)used, 1, sizeof used);
    spin(20);
    ran += used[17];
    return unused;
}

int main(void)
{
    pthread_attr_t attr;

    begin();
    CHECK(pthread_attr_init(&attr) == 0);
    CHECK(pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN)) == 0);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;

        CHECK(pthread_create(&thread, &attr, small, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    CHECK(ran == 20);
    return fine();
}
