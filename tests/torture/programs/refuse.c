/* refuse perf|timers|reads [EPERM|EACCES|ENOSYS|EMFILE|ENOMEM] PROGRAM ARGS: runs it where perf_event_open, or also
 * timer_create or process_vm_readv, is refused with that error (EPERM: what container runtimes say
 * by default). PROGRAM is a path. Nothing it starts gets the calls back, nor rights by a setuid bit: the kernel wants
 * no_new_privs of whoever filters. */
#include "torture.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* 0: this is no name of an error, but the program. */
static unsigned error_of(const char *name)
{
    static const struct {
        const char *name;
        unsigned number;
    } errors[] = { { "EPERM", EPERM },
                   { "EACCES", EACCES },
                   { "ENOSYS", ENOSYS },
                   { "EMFILE", EMFILE },
                   { "ENOMEM", ENOMEM } };

    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (!strcmp(errors[i].name, name))
            return errors[i].number;
    return 0;
}

static unsigned also_refused(const char *what)
{
    if (!strcmp(what, "timers"))
        return SYS_timer_create;
    return !strcmp(what, "reads") ? SYS_process_vm_readv : -1u;
}

int main(int argc, char **argv)
{
    unsigned named = argc > 2 ? error_of(argv[2]) : 0;
    char **command = argv + (named ? 3 : 2);
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argc > 1 ? also_refused(argv[1]) : -1u, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (named ? named : EPERM)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof code[0], code };

    CHECK(argc > 2 && *command);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return not_here("the kernel takes no seccomp filter");
    execv(command[0], command);
    CHECK(!"exec");
}
