/* Gives up root as servers do, works on in old and new threads and children, then execs. */
#include "tasks.h"

#include <grp.h>

enum { NOBODY = 65534 };

static _Atomic int dropped;

HOT static void spin_as_nobody(void)
{
    spin(80);
    __asm__ volatile("");
}

static void *old_thread(void *unused)
{
    while (!dropped)
        spin(1);
    CHECK(getuid() == NOBODY);
    spin_as_nobody();
    return unused;
}

static void *new_thread(void *unused)
{
    spin_as_nobody();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    pid_t pid;

    begin();
    if (argc == 2 && !strcmp(argv[1], "again")) {
        CHECK(getuid() == NOBODY);
        spin(30);
        return fine();
    }
    if (geteuid() != 0)
        return not_here("only root has rights to give up");
    CHECK(pthread_create(&thread, NULL, old_thread, NULL) == 0);
    spin(30);
    CHECK(setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0);
    CHECK(setresuid(NOBODY, NOBODY, NOBODY) == 0 && setuid(0) < 0);
    tasks_are_alike(true);
    dropped = 1;
    CHECK(pthread_join(thread, NULL) == 0);
    run_threads(2, new_thread, NULL);
    pid = fork();
    if (pid == 0) {
        spin_as_nobody();
        _exit(3);
    }
    CHECK(ends_with(pid, 3));
    execl(argv[0], argv[0], "again", (char *)NULL); /* may be forbidden: a folder of root's */
    CHECK(errno == EACCES);
    return fine();
}
