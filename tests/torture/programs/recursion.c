/* A hundred thousand frames deep; the work is at the bottom. */
#include "torture.h"

enum { DEPTH = 100000 };

HOT static unsigned long bottom(void)
{
    spin(450);
    return 1;
}

HOT static unsigned long descend(int left)
{
    unsigned long below = left ? descend(left - 1) : bottom();

    __asm__ volatile("" : "+r"(below)); /* no loop */
    return below + 1;
}

int main(void)
{
    begin();
    CHECK(descend(DEPTH) == DEPTH + 2);
    return fine();
}
