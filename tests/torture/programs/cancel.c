/* cancel deferred|async: threads are cancelled in the middle of work and of ticks; the cleanup of
 * each runs once. */
#include "torture.h"

enum { ROUNDS = 400 };

struct victim {
    bool async;
    _Atomic int started;
    int cleaned;
};

static void clean(void *victim)
{
    ((struct victim *)victim)->cleaned++;
}

HOT static void endless(const struct victim *victim)
{
    volatile unsigned long state = 1;

    for (;;) {
        state = burn(state, 500);
        if (!victim->async)
            pthread_testcancel();
    }
}

static void *body(void *argument)
{
    struct victim *victim = argument;

    pthread_cleanup_push(clean, victim);
    victim->started = 1;
    if (victim->async)
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    endless(victim);
    pthread_cleanup_pop(0);
    return NULL;
}

int main(int argc, char **argv)
{
    begin();
    CHECK(argc == 2);
    for (int i = 0; i < ROUNDS; i++) {
        struct victim victim = { .async = !strcmp(argv[1], "async") };
        pthread_t thread;
        void *result;

        CHECK(pthread_create(&thread, NULL, body, &victim) == 0);
        while (!victim.started)
            sched_yield();
        spin_us(300 + i);
        CHECK(pthread_cancel(thread) == 0);
        CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
        CHECK(victim.cleaned == 1);
    }
    return fine();
}
