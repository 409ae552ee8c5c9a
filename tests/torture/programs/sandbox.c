/* sandbox HOW: locks itself in. A system call that the program does not make itself kills it. */
#include "torture.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define ALLOW(call)                                                                                \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1),                                         \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* What work() and the end need, and a thread's end. */
static struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(write),
    ALLOW(futex),
    ALLOW(madvise),
    ALLOW(munmap),
    ALLOW(rt_sigreturn),
    ALLOW(rt_sigprocmask),
    ALLOW(exit),
    ALLOW(exit_group),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

static struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };
static _Atomic int began, locked_in;

static unsigned long work(void)
{
    unsigned long state = 1;

    for (int i = 0; i < 30000; i++)
        state = burn(state, 1000) | 1;
    return state;
}

static void *beside(void *result)
{
    began = 1; /* libc's own calls at a thread's start lie behind it */
    while (!locked_in)
        *(unsigned long *)result = burn(1, 4000);
    *(unsigned long *)result = work();
    return NULL;
}

static void lock_in(const char *how)
{
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    /* The question that libseccomp begins with. */
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL) == -1 &&
          errno == EFAULT);
    if (!strcmp(how, "strict")) {
        /* Not where a filter is in force already, as in most containers. */
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0 && errno == EINVAL)
            exit(not_here("a seccomp filter is in force already"));
    } else if (!strcmp(how, "prctl"))
        CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    else
        CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                      !strcmp(how, "filter") ? 0 : SECCOMP_FILTER_FLAG_TSYNC, &program) == 0);
}

int main(int argc, char **argv)
{
    unsigned long expected = work(), result = 0;
    pthread_t thread;

    begin();
    CHECK(argc == 2);
    spin(200);
    CHECK(pthread_create(&thread, NULL, beside, &result) == 0);
    while (!began)
        ;
    lock_in(argv[1]);
    locked_in = 1;
    CHECK(work() == expected);
    if (strcmp(argv[1], "strict")) /* which leaves no futex to wait with */
        CHECK(pthread_join(thread, NULL) == 0 && result == expected);
    CHECK(write(STDOUT_FILENO, "fine\n", 5) == 5);
    syscall(strcmp(argv[1], "strict") ? SYS_exit_group : SYS_exit, 0);
    return 0;
}
