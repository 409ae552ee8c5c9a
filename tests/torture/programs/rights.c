/* rights HOW: gives rights up in this way; every thread then has no more than the program. */
#include "tasks.h"

#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>

enum { NOBODY = 65534, ROUNDS = 200 };

int capset(cap_user_header_t header, const cap_user_data_t data);

static void drop_capabilities(void)
{
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, getpid() };
    struct __user_cap_data_struct data[2] = { 0 };

    CHECK(capset(&header, NULL) < 0); /* a question */
    CHECK(capset(&header, data) == 0);
}

static void drop_by_prctl(void)
{
    CHECK(prctl(PR_CAPBSET_DROP, CAP_SYS_BOOT, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0);
    CHECK(setresuid(NOBODY, NOBODY, NOBODY) == 0); /* keeps what is permitted */
    CHECK(prctl(PR_SET_NAME, "prctl's", 0, 0, 0) == 0);
}

/* To and fro, as servers do for each request. */
static void change_often(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(setegid(i % 2 ? 0 : NOBODY) == 0 && seteuid(NOBODY) == 0 && geteuid() == NOBODY);
        tasks_are_alike(i == 0);
        CHECK(seteuid(0) == 0);
    }
    CHECK(setregid(NOBODY, NOBODY) == 0 && setreuid(NOBODY, NOBODY) == 0);
}

static void drop_by_number(void)
{
    CHECK(syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) == 0);
    CHECK(syscall(SYS_setuid, NOBODY) == 0 && syscall(SYS_getuid) == NOBODY);
    errno = 0;
    CHECK(syscall(SYS_setuid, 0) == -1 && errno == EPERM);
    CHECK(syscall(SYS_getpid) == getpid());
}

static void change(const char *how)
{
    const gid_t groups[] = { 20, 21, NOBODY };

    if (!strcmp(how, "setgroups"))
        CHECK(setgroups(3, groups) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    else if (!strcmp(how, "initgroups"))
        CHECK(initgroups("nobody", 42) == 0);
    else if (!strcmp(how, "seteuid"))
        change_often();
    else if (!strcmp(how, "capset"))
        drop_capabilities();
    else if (!strcmp(how, "prctl"))
        drop_by_prctl();
    else
        drop_by_number();
}

static void *body(void *unused)
{
    spin(30);
    return unused;
}

int main(int argc, char **argv)
{
    begin();
    CHECK(argc == 2);
    if (geteuid() != 0)
        return not_here("only root has rights to give up");
    spin(100);
    change(argv[1]);
    tasks_are_alike(true);
    spin(100);
    run_threads(2, body, NULL);
    tasks_are_alike(true);
    return fine();
}
