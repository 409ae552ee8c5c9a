/* own_signal NUMBER early|late: the program has a handler of its own for a signal that a sampler
 * might use. It must see each that was sent, and no other. */
#include "early.h"
#include "torture.h"

#include <signal.h>
#include <sys/time.h>

enum { ROUNDS = 4000 };

static void itimer(void)
{
    struct itimerval every = { { 0, 4000 }, { 0, 4000 } }, never = { { 0, 0 }, { 0, 0 } };
    int before = early_count;

    CHECK(setitimer(ITIMER_PROF, &every, NULL) == 0);
    spin(200);
    CHECK(setitimer(ITIMER_PROF, &never, NULL) == 0);
    /* 50 are due, 20 where the kernel ticks at 100 Hz; those that come late fall together. */
    CHECK(early_count - before >= 5);
}

int main(int argc, char **argv)
{
    int number, sent = 0;

    begin();
    CHECK(argc == 3);
    number = atoi(argv[1]);
    spin(20);
    if (!strcmp(argv[2], "late"))
        early_take(number);
    for (int i = 0; i < ROUNDS; i++) {
        spin_us(50);
        CHECK(raise(number) == 0);
        CHECK(early_count == ++sent);
#ifdef __x86_64__
        if (number == SIGTRAP) {
            __asm__ volatile("int3");
            CHECK(early_count == ++sent);
        }
#endif
    }
    if (number == SIGPROF)
        itimer();
    return fine();
}
