/* Four threads allocate, grow and free, also each other's memory; what was written stays. */
#include "torture.h"

enum { OPERATIONS = 150000, KEPT = 256 };

static _Atomic(unsigned char *) shared[KEPT];

static void *body(void *unused)
{
    static _Atomic unsigned seed = 1;
    unsigned long state = seed++ * 2654435761ul;

    for (int i = 0; i < OPERATIONS; i++) {
        size_t bytes;
        unsigned char *memory, *other;

        state = burn(state, 1);
        bytes = 2 + state % 3000;
        memory = malloc(bytes);
        CHECK(memory);
        memory[0] = memory[1] = (unsigned char)bytes;
        if (state & 1 << 20) {
            memory = realloc(memory, bytes * 3);
            CHECK(memory && memory[0] == (unsigned char)bytes);
        }
        other = __atomic_exchange_n((unsigned char **)&shared[state >> 32 & (KEPT - 1)], memory,
                                    __ATOMIC_ACQ_REL);
        CHECK(!other || other[0] == other[1]);
        free(other);
    }
    return unused;
}

int main(void)
{
    begin();
    run_threads(4, body, NULL);
    for (int i = 0; i < KEPT; i++)
        free(shared[i]);
    return fine();
}
