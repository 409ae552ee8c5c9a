/* Recursion into the guard page, again and again: the handler runs on another stack and jumps out.
 */
#include "torture.h"

#include <setjmp.h>
#include <signal.h>

enum { ROUNDS = 240, ALTSTACK_BYTES = 64 * 1024, STACK_BYTES = 256 * 1024 };

static __thread sigjmp_buf before;
static __thread int depth;
static volatile int depth_max = 1 << 30; /* which no stack has room for */

static void leave(int number)
{
    (void)number;
    siglongjmp(before, 1);
}

HOT static int deeper(int value)
{
    volatile char room[512];

    room[value % 512] = (char)burn((unsigned)value, 200);
    depth++;
    if (value > depth_max)
        return value;
    return deeper(value + 1) + room[value % 512]; /* no tail call */
}

static void *body(void *unused)
{
    stack_t altstack = { .ss_sp = malloc(ALTSTACK_BYTES), .ss_size = ALTSTACK_BYTES };

    CHECK(altstack.ss_sp && sigaltstack(&altstack, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        depth = 0;
        if (sigsetjmp(before, 1) == 0)
            deeper(1);
        CHECK(depth > STACK_BYTES / 1024);
    }
    altstack.ss_flags = SS_DISABLE;
    CHECK(sigaltstack(&altstack, NULL) == 0);
    free(altstack.ss_sp);
    return unused;
}

int main(void)
{
    struct sigaction action = { .sa_handler = leave, .sa_flags = SA_ONSTACK };
    pthread_attr_t attr;
    pthread_t threads[4];

    begin();
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    CHECK(pthread_attr_init(&attr) == 0 && pthread_attr_setstacksize(&attr, STACK_BYTES) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], &attr, body, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return fine();
}
