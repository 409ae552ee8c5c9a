/* A child process that shares the memory (clone with CLONE_VM, no thread), with and without
 * CLONE_VFORK. It is another process with our handlers and thread-local memory. */
#include "torture.h"

#include <sched.h>

enum { STACK_BYTES = 65536, ROUNDS = 20, BURN = 4000000 };

static volatile unsigned long result;

HOT static int shared_burn(void *state)
{
    result = burn((unsigned long)state, BURN);
    return 5;
}

static void round_of(unsigned long state, int flags, char *stack)
{
    pid_t pid = clone(shared_burn, stack + STACK_BYTES, flags | CLONE_VM | SIGCHLD, (void *)state);

    CHECK(pid > 0);
    spin(6);
    CHECK(ends_with(pid, 5));
    CHECK(result == burn(state, BURN));
}

int main(void)
{
    char *stack = malloc(STACK_BYTES);

    begin();
    CHECK(stack);
    for (int i = 1; i <= ROUNDS; i++)
        round_of((unsigned long)i, i % 2 ? CLONE_VFORK : 0, stack);
    free(stack);
    return fine();
}
