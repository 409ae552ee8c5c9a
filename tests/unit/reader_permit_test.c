/* Who may read this process by Yama's rules: the service, unless the program says who. The kernel
 * need not have Yama: a filter shows the calls. */
#include "sampler/capture/reader_permit.h"

#include "skip_because.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static volatile sig_atomic_t calls;

static void note_call(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    calls += info->si_syscall == SYS_prctl;
}

/* Little-endian: the lower half of an argument stands first. */
static bool show_calls(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_PTRACER, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };
    const struct sigaction action = { .sa_sigaction = note_call, .sa_flags = SA_SIGINFO };

    return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/* How often it names somebody: the test's parent is not at the other end. */
static int named(void)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) < 0)
        return -1;
    calls = 0;
    reader_permit(ends[0]);
    close(ends[0]);
    close(ends[1]);
    return calls;
}

static int ends_with(void (*child)(void))
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        child();
        _exit(99);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void grandchild(void)
{
    _exit(named() == 1 ? 0 : 4);
}

static void child(void)
{
    if (!show_calls())
        _exit(77);
    if (named() != 1)
        _exit(1);
    reader_permit_leave();
    if (named() != 0)
        _exit(2);
    _exit(ends_with(grandchild));
}

static void
the_service_is_named_until_the_program_names_another_and_in_its_child_again(void **state)
{
    int status = ends_with(child);

    (void)state;
    if (status == 77)
        skip_because("may not filter system calls");
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_service_is_named_until_the_program_names_another_and_in_its_child_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
