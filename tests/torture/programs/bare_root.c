/* chroot into an empty folder, without /proc; threads, children and the work go on. */
#include "torture.h"

HOT static void spin_in_jail(void)
{
    spin(80);
    __asm__ volatile("");
}

static void *body(void *unused)
{
    spin_in_jail();
    return unused;
}

int main(void)
{
    char folder[] = "/tmp/torture-XXXXXX";
    pid_t pid;

    begin();
    if (geteuid() != 0)
        return not_here("only root may chroot");
    spin(20);
    CHECK(mkdtemp(folder) && chdir(folder) == 0 && rmdir(folder) == 0);
    CHECK(chroot(".") == 0 && access("/proc", F_OK) < 0);
    run_threads(3, body, NULL);
    pid = fork();
    if (pid == 0) {
        spin_in_jail();
        _exit(3);
    }
    CHECK(ends_with(pid, 3));
    return fine();
}
