/* Calls of many shapes with a known result; built with several compiler options, stripped, and
 * static. */
#include "torture.h"

#define NOINLINE __attribute__((noinline))

enum { FIB_20 = 6765, CPU_MS = 300 };

struct wide {
    long values[9];
};

NOINLINE static long odd(int n);

NOINLINE static long even(int n)
{
    return n < 2 ? n : odd(n - 1) + odd(n - 2);
}

NOINLINE static long odd(int n)
{
    return n < 2 ? n : even(n - 1) + even(n - 2);
}

NOINLINE static struct wide by_value(struct wide in, double factor, long (*call)(int), int n)
{
    for (int i = 0; i < 9; i++)
        in.values[i] = (long)((double)in.values[i] * factor);
    in.values[4] = call(n);
    return in;
}

NOINLINE static long once(int i)
{
    struct wide wide = { { 1, 2, 3, 4, 5, 6, 7, 8, 9 } };

    wide = by_value(wide, 2.0, i % 2 ? odd : even, 20);
    return wide.values[4] + wide.values[8];
}

int main(void)
{
    double end = cpu_s() + CPU_MS / 1e3;

    begin();
    for (int i = 0; i < 5 || cpu_s() < end; i++)
        CHECK(once(i) == FIB_20 + 18);
    return fine();
}
