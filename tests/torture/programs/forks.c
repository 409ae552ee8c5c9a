/* Fork: each child works, allocates, and ends with its own status; one forks again. */
#include "torture.h"

enum { CHILDREN = 12, FIRST_STATUS = 20 };

HOT static void child_spin(void)
{
    spin(20);
    __asm__ volatile("");
}

static void child(int i)
{
    char *memory = malloc(100000);
    pid_t grandchild;

    CHECK(memory);
    memset(memory, i, 100000);
    child_spin();
    CHECK(memory[99999] == i && open_fds() == 3);
    grandchild = i % 4 ? -1 : fork();
    if (grandchild == 0) {
        child_spin();
        _exit(9);
    }
    CHECK(grandchild < 0 || ends_with(grandchild, 9));
    free(memory);
    _exit(FIRST_STATUS + i);
}

int main(void)
{
    pid_t pids[CHILDREN];

    begin();
    for (int i = 0; i < CHILDREN; i++) {
        pids[i] = fork();
        CHECK(pids[i] >= 0);
        if (pids[i] == 0)
            child(i);
        spin(5);
    }
    for (int i = 0; i < CHILDREN; i++)
        CHECK(ends_with(pids[i], FIRST_STATUS + i));
    return fine();
}
