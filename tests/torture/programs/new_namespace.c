/* new_namespace WHICH: the kernel gives some namespaces to processes of one thread only, and
 * threads to no process between two pid namespaces. */
#include "torture.h"

#include <sched.h>
#include <spawn.h>

/* A process without any preload tells: the kernel makes no user namespace in a chroot, and a
 * container may have none at all. */
static bool may_make(const char *which)
{
    char name[] = "unshare", user[] = "--user", mount[] = "--mount", done[] = "true";
    char as_it_is[] = "--propagation=unchanged"; /* it may change that of a mount point only */
    char *words[] = { name, strncmp(which, "user", 4) ? mount : user, as_it_is, done, NULL };
    char path[] = "PATH=/usr/bin:/bin", *environment[] = { path, NULL };
    int error = open("/dev/null", O_WRONLY | O_CLOEXEC);
    posix_spawn_file_actions_t actions;
    pid_t pid;

    CHECK(error >= 0 && posix_spawn_file_actions_init(&actions) == 0 &&
          posix_spawn_file_actions_adddup2(&actions, error, STDERR_FILENO) == 0 &&
          posix_spawnp(&pid, name, &actions, NULL, words, environment) == 0);
    CHECK(posix_spawn_file_actions_destroy(&actions) == 0 && close(error) == 0);
    return ends_with(pid, 0);
}

static void *body(void *unused)
{
    spin(50);
    return unused;
}

static void *mount_of_its_own(void *unused)
{
    CHECK(unshare(CLONE_NEWNS) == 0);
    spin(50);
    return unused;
}

/* A child's, which waits in it until it is entered. */
static void enter_anothers(void)
{
    int ready[2], over[2], space;
    char path[64], byte;
    pid_t pid;

    CHECK(pipe2(ready, O_CLOEXEC) == 0 && pipe2(over, O_CLOEXEC) == 0);
    pid = fork();
    if (pid == 0) {
        CHECK(unshare(CLONE_NEWNS | CLONE_NEWUTS) == 0 && write(ready[1], "x", 1) == 1);
        close(over[1]);
        _exit(read(over[0], &byte, 1) == 0 ? 3 : 4);
    }
    CHECK(pid > 0 && read(ready[0], &byte, 1) == 1);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, i ? "mnt" : "uts");
        space = open(path, O_RDONLY | O_CLOEXEC);
        CHECK(space >= 0 && setns(space, i ? CLONE_NEWNS : 0) == 0 && close(space) == 0);
    }
    errno = 0;
    CHECK(setns(-1, 0) == -1 && errno == EBADF);
    CHECK(close(ready[0]) == 0 && close(ready[1]) == 0 && close(over[0]) == 0 &&
          close(over[1]) == 0);
    CHECK(ends_with(pid, 3));
}

/* The kernel only looks whether the process has one thread. */
static void stay_alone(void)
{
    for (int i = 0; i < 300; i++) {
        CHECK(unshare(CLONE_THREAD | CLONE_SIGHAND | CLONE_VM) == 0);
        spin_us(500);
    }
}

static void children_in_a_new_pid_namespace(void)
{
    pid_t pid;

    CHECK(unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0);
    pid = fork();
    if (pid == 0) {
        CHECK(getpid() == 1);
        spin(100);
        run_threads(2, body, NULL);
        _exit(3);
    }
    CHECK(ends_with(pid, 3));
}

static void change(const char *which)
{
    if (!strcmp(which, "user"))
        CHECK(unshare(CLONE_NEWUSER) == 0);
    else if (!strcmp(which, "user and mount"))
        CHECK(unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWUTS) == 0);
    else if (!strcmp(which, "mount"))
        CHECK(unshare(CLONE_NEWNS) == 0);
    else if (!strcmp(which, "entered"))
        enter_anothers();
    else if (!strcmp(which, "none, again and again"))
        stay_alone();
    else if (!strcmp(which, "of another thread"))
        run_threads(2, mount_of_its_own, NULL);
    else
        children_in_a_new_pid_namespace();
}

int main(int argc, char **argv)
{
    bool pids = argc == 2 && !strcmp(argv[1], "user and pid");

    begin();
    CHECK(argc == 2);
    if (geteuid() != 0)
        return not_here("only root makes every namespace");
    if (strncmp(argv[1], "none", 4) != 0 && !may_make(argv[1]))
        return not_here("the kernel refuses such namespaces, as in a chroot or a container");
    spin(100);
    change(argv[1]);
    spin(100);
    if (!pids) /* no thread may be made any more */
        run_threads(2, body, NULL);
    return fine();
}
