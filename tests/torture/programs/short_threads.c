/* short_threads COUNT: so many threads, four at a time, of some 30 us each. */
#include "torture.h"

static _Atomic int ran;

static void *brief(void *unused)
{
    volatile unsigned long state = burn(1, 8000);

    (void)state;
    ran++;
    return unused;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 10000;

    begin();
    for (int i = 0; i < count; i += 4)
        run_threads(4, brief, NULL);
    CHECK(ran == count);
    return fine();
}
