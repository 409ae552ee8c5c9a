/* longjmp out of depth, siglongjmp out of handlers, and functions that end in a call that does not
 * return. */
#include "torture.h"

#include <setjmp.h>
#include <signal.h>

enum { JUMPS = 150000, SIGNAL_JUMPS = 15000 };

static __thread sigjmp_buf target;

__attribute__((noinline, noreturn)) static void leave(int value)
{
    volatile unsigned long state = burn(1, 200);

    (void)state;
    siglongjmp(target, value);
}

static void deeper(int left);
static void (*volatile next_deeper)(int) = deeper; /* the compiler sees no endless recursion */

static void deeper(int left)
{
    if (left > 0)
        next_deeper(left - 1);
    leave(3);
}

static void jump_out(int number)
{
    spin_us(5);
    siglongjmp(target, number);
}

static void *body(void *unused)
{
    for (volatile int i = 0; i < JUMPS; i++)
        if (sigsetjmp(target, 0) == 0) {
            next_deeper(i % 12);
            CHECK(!"came back");
        }
    for (volatile int i = 0; i < SIGNAL_JUMPS; i++) {
        int value = sigsetjmp(target, 1);

        if (value == 0) {
            pthread_kill(pthread_self(), SIGUSR1);
            CHECK(!"came back");
        }
        CHECK(value == SIGUSR1);
    }
    return unused;
}

int main(void)
{
    struct sigaction action = { .sa_handler = jump_out };

    begin();
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    run_threads(2, body, NULL);
    return fine();
}
