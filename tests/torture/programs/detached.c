/* Detached threads: nobody waits for them, libc frees their stacks as they end. */
#include "torture.h"

enum { THREADS = 1000, AT_ONCE = 8 };

static _Atomic int living, ran;

static void *body(void *unused)
{
    spin_us(250);
    ran++;
    living--;
    return unused;
}

int main(void)
{
    pthread_attr_t attr;

    begin();
    CHECK(pthread_attr_init(&attr) == 0);
    CHECK(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;

        while (living >= AT_ONCE)
            sched_yield();
        living++;
        CHECK(pthread_create(&thread, &attr, body, NULL) == 0);
    }
    while (ran < THREADS)
        sched_yield();
    return fine();
}
