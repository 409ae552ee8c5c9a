/* For python_storms.py: calls back from below, and leaves its own frames by longjmp. */
#include <setjmp.h>

typedef int (*callback)(int depth);

static _Thread_local jmp_buf out;

__attribute__((visibility("default"))) int jump_after(callback call, int depth);

static int land(callback call, int depth)
{
    int said = call(depth);

    longjmp(out, said > 0 ? depth + 1 : depth + 2);
}

/* It does not come back. Who knows that takes down for an endless recursion. */
static int (*volatile lands)(callback call, int depth) = land;

static __attribute__((noinline)) int down(callback call, int depth, int left)
{
    volatile int result = left == 0 ? lands(call, depth) : down(call, depth, left - 1);

    return result + 1;
}

/* depth + 1 */
int jump_after(callback call, int depth)
{
    int landed = setjmp(out);

    return landed ? landed : down(call, depth, depth);
}
