/* A process's memory is read through the kernel, whichever way it leaves open. */
#include "sampler/capture/system/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char text[] = "what is read";

/* As an old container does. */
static void refuse_process_vm_readv(void)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = { sizeof(steps) / sizeof(*steps), steps };

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

/* A number that says what went wrong; 0: nothing. */
static int look(int32_t pid, bool refused)
{
    char copy[sizeof(text)] = "";
    uint64_t at = (uint64_t)(uintptr_t)text;

    if (memory_read_some(pid, copy, at, sizeof(copy)) != (long)sizeof(copy) || strcmp(copy, text))
        return 1;
    if (!memory_read(pid, copy, at, sizeof(copy)) || memory_read(pid, copy, 0x10, sizeof(copy)))
        return 2;
    if (memory_read_some(pid, copy, 0x10, sizeof(copy)) != -EFAULT)
        return 3;
    if (memory_copy(pid, copy, at, sizeof(copy)) != (refused ? -EPERM : (long)sizeof(copy)))
        return 4;
    return 0;
}

static int look_where_it_is_refused(int32_t pid)
{
    pid_t child = fork();
    int status = -1;

    if (!child) {
        refuse_process_vm_readv();
        _exit(look(pid, true));
    }
    waitpid(child, &status, 0);
    return status;
}

static void ones_own_is_read(void **state)
{
    (void)state;
    assert_int_equal(look(0, false), 0);
    assert_int_equal(look_where_it_is_refused(0), 0);
}

static void another_processs_is_read(void **state)
{
    int ready[2], first, second;
    pid_t other;
    char byte;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    other = fork();
    if (!other) {
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* a sibling reads too */
        if (write(ready[1], "", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    first = look(other, false);
    second = look_where_it_is_refused(other);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    close(ready[0]);
    close(ready[1]);
    assert_int_equal(first, 0);
    assert_int_equal(second, 0);
}

static void what_is_mapped_is_read_up_to_its_end(void **state)
{
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char copy[64];

    (void)state;
    assert_ptr_not_equal(pages, MAP_FAILED);
    munmap(pages + 4096, 4096);
    assert_int_equal(memory_read_some(0, copy, (uint64_t)(uintptr_t)pages + 4096 - 16, 64), 16);
    assert_false(memory_read(0, copy, (uint64_t)(uintptr_t)pages + 4096 - 16, 64));
    munmap(pages, 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ones_own_is_read),
        cmocka_unit_test(another_processs_is_read),
        cmocka_unit_test(what_is_mapped_is_read_up_to_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
