/* Threads end about when their tick comes: after 150 to 250 us of CPU time, by return, by
 * pthread_exit, and with destructors of thread-local values that work too. */
#include "torture.h"

enum { THREADS = 2000 };

static pthread_key_t key;
static _Atomic int destroyed;

static void destroy(void *value)
{
    spin_us(20);
    destroyed += value != NULL;
}

static void *body(void *number)
{
    long i = (long)number;

    pthread_setspecific(key, &key);
    spin_us(150 + i % 100);
    if (i % 2)
        pthread_exit(number);
    return number;
}

int main(void)
{
    begin();
    CHECK(pthread_key_create(&key, destroy) == 0);
    for (long i = 0; i < THREADS; i += 4) {
        pthread_t threads[4];
        void *result;

        for (long j = 0; j < 4; j++)
            CHECK(pthread_create(&threads[j], NULL, body, (void *)(i + j)) == 0);
        for (long j = 0; j < 4; j++)
            CHECK(pthread_join(threads[j], &result) == 0 && (long)result == i + j);
    }
    CHECK(destroyed == THREADS);
    return fine();
}
