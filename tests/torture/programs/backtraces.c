/* backtrace() in a loop in three threads: the stack is as deep each time. */
#include "torture.h"

#include <execinfo.h>

enum { ROUNDS = 60000, DEPTH = 12, FRAMES = 64 };

HOT static int depth_below(int left)
{
    void *frames[FRAMES];
    int depth = left ? depth_below(left - 1) : backtrace(frames, FRAMES);

    __asm__ volatile("" : "+r"(depth));
    return depth;
}

static void *body(void *unused)
{
    int first = depth_below(DEPTH);

    CHECK(first > DEPTH && first < FRAMES);
    for (int i = 0; i < ROUNDS; i++)
        CHECK(depth_below(DEPTH) == first);
    return unused;
}

int main(void)
{
    begin();
    run_threads(3, body, NULL);
    return fine();
}
