/* Double fork, new session, every descriptor closed but a pipe that brings the daemon's result. */
#include "torture.h"

HOT static void daemon_spin(void)
{
    spin(200);
    __asm__ volatile("");
}

static void *helper(void *unused)
{
    spin(50);
    return unused;
}

static void daemon_body(int result)
{
    /* The result goes to 0: all others are closed, as daemons do. */
    CHECK(setsid() >= 0 && chdir("/") == 0 && dup2(result, 0) == 0);
    for (int fd = 1; fd < 1024; fd++)
        close(fd);
    if (fork() != 0)
        _exit(0);
    CHECK(open("/dev/null", O_RDWR) == 1 && dup(1) == 2);
    daemon_spin();
    run_threads(2, helper, NULL);
    CHECK(open_fds() == 3);
    CHECK(write(0, "x", 1) == 1);
    _exit(0);
}

int main(void)
{
    int ends[2];
    char byte = 0;
    pid_t pid;

    begin();
    CHECK(pipe(ends) == 0);
    spin(10);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        daemon_body(ends[1]);
    close(ends[1]);
    CHECK(ends_with(pid, 0));
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x');
    CHECK(read(ends[0], &byte, 1) == 0);
    close(ends[0]);
    return fine();
}
