/* For python_storms.py: calls back from below, and leaves its own frames by longjmp. */
#include <setjmp.h>

typedef int (*callback)(int depth);

static _Thread_local jmp_buf out;

__attribute__((visibility("default"))) int jump_after(callback call, int depth);

static __attribute__((noinline)) int down(callback call, int depth, int left)
{
    volatile int result;

    if (left == 0) {
        int said = call(depth);

        longjmp(out, said > 0 ? depth + 1 : depth + 2);
    }
    result = down(call, depth, left - 1);
    return result + 1;
}

/* depth + 1 */
int jump_after(callback call, int depth)
{
    int landed = setjmp(out);

    return landed ? landed : down(call, depth, depth);
}
