/* Small enough that lld maps all of it from the file's first page. */
#include <stdlib.h>

static volatile unsigned long sum;

__attribute__((noinline)) void spin_linked(long turns)
{
    for (long i = 0; i < turns; i++)
        sum = sum * 3 + 1;
}

int main(int argc, char **argv)
{
    spin_linked((argc > 1 ? atol(argv[1]) : 300) * 1000 * 1000);
    return 0;
}
