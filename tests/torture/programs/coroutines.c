/* Coroutines (makecontext, swapcontext) that move between stacks all the time, in two threads. */
#include "torture.h"

#include <ucontext.h>

enum { COROUTINES = 32, STACK_BYTES = 32768, TURNS = 400 };

struct scheduler {
    ucontext_t home;
    ucontext_t contexts[COROUTINES];
    unsigned long sums[COROUTINES];
    int current;
};

static __thread struct scheduler *mine;

HOT static unsigned long coroutine_burn(unsigned long state)
{
    return burn(state, 3000);
}

static void coroutine(void)
{
    int i = mine->current;

    for (int turn = 0; turn < TURNS; turn++) {
        mine->sums[i] = coroutine_burn(mine->sums[i]);
        CHECK(swapcontext(&mine->contexts[i], &mine->home) == 0);
    }
}

static unsigned long expected(unsigned long state)
{
    for (int turn = 0; turn < TURNS; turn++)
        state = coroutine_burn(state);
    return state;
}

static void *body(void *unused)
{
    char *stacks = malloc((size_t)COROUTINES * STACK_BYTES);

    mine = calloc(1, sizeof *mine);
    CHECK(stacks && mine);
    for (int i = 0; i < COROUTINES; i++) {
        CHECK(getcontext(&mine->contexts[i]) == 0);
        mine->contexts[i].uc_stack.ss_sp = stacks + (size_t)i * STACK_BYTES;
        mine->contexts[i].uc_stack.ss_size = STACK_BYTES;
        mine->contexts[i].uc_link = &mine->home;
        mine->sums[i] = (unsigned long)i + 1;
        makecontext(&mine->contexts[i], coroutine, 0);
    }
    for (int turn = 0; turn < TURNS; turn++)
        for (mine->current = 0; mine->current < COROUTINES; mine->current++)
            CHECK(swapcontext(&mine->home, &mine->contexts[mine->current]) == 0);
    CHECK(mine->sums[COROUTINES - 1] == expected(COROUTINES));
    free(mine);
    free(stacks);
    return unused;
}

int main(void)
{
    begin();
    run_threads(2, body, NULL);
    return fine();
}
