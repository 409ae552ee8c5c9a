/* Two thousand threads that live at the same time; each works before and after all are there. */
#include "torture.h"

enum { THREADS = 2000, STACK_BYTES = 65536 };

static pthread_barrier_t all;
static _Atomic int ran;

static void *body(void *unused)
{
    spin_us(150);
    pthread_barrier_wait(&all);
    spin_us(150);
    ran++;
    return unused;
}

int main(void)
{
    static pthread_t threads[THREADS];
    pthread_attr_t attr;

    begin();
    CHECK(pthread_barrier_init(&all, NULL, THREADS) == 0);
    CHECK(pthread_attr_init(&attr) == 0 && pthread_attr_setstacksize(&attr, STACK_BYTES) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], &attr, body, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(ran == THREADS);
    return fine();
}
