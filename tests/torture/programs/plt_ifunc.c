/* Calls through the PLT (bound lazily) and through functions that are chosen at start (ifunc). */
#include "early.h"
#include "torture.h"

enum { ROUNDS = 6000000 };

static int twice_by_adding(int value)
{
    return value + value;
}

static int twice_by_shifting(int value)
{
    return (int)((unsigned)value << 1);
}

__attribute__((used)) static int (*choose(void))(int)
{
    return sizeof(long) == 8 ? twice_by_adding : twice_by_shifting;
}

int twice(int value) __attribute__((ifunc("choose")));

int main(void)
{
    char text[256] = "", copy[256];
    unsigned sum = 0;

    begin();
    memset(text, 'x', sizeof text - 1);
    for (int i = 0; i < ROUNDS; i++) {
        size_t start = (size_t)i % 200;

        sum += (unsigned)early_add(i & 1, twice(1));
        memcpy(copy, text + start, sizeof text - start);
        CHECK(strlen(copy) == sizeof text - 1 - start);
    }
    CHECK(sum == ROUNDS / 2 * 5u);
    return fine();
}
