/* unshare(CLONE_NEWUSER), which the kernel allows to processes of one thread only. */
#include "torture.h"

#include <sched.h>

int main(void)
{
    begin();
    spin(100);
    CHECK(unshare(CLONE_NEWUSER) == 0);
    spin(100);
    return fine();
}
