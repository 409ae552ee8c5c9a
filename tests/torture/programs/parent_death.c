/* PR_SET_PDEATHSIG comes when the parent's thread ends: not before, and then at once. */
#include "torture.h"

#include <signal.h>
#include <sys/prctl.h>

static void child(int ready)
{
    CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
    spin(150);
    CHECK(write(ready, "r", 1) == 1);
    for (;;)
        pause();
}

static void parent(int ready, int alive)
{
    int ends[2];
    char byte;

    CHECK(pipe(ends) == 0);
    if (fork() == 0)
        child(ends[1]);
    close(ends[1]);
    spin(20);
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'r');
    CHECK(write(ready, "r", 1) == 1);
    (void)alive; /* its copy in the child closes when the child is killed */
    _exit(0);
}

int main(void)
{
    int ends[2];
    char bytes[2];
    pid_t pid;

    begin();
    CHECK(pipe(ends) == 0);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        parent(ends[1], ends[0]);
    close(ends[1]);
    CHECK(read(ends[0], bytes, 1) == 1 && bytes[0] == 'r');
    CHECK(read(ends[0], bytes, 1) == 0);
    CHECK(ends_with(pid, 0));
    close(ends[0]);
    return fine();
}
