#include "raw_thread.h"

#include "pages.h"

#include "../../feed/sys.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum { STACK_BYTES = 64 * 1024, KERNEL_SIGSET_BYTES = 8, LOOKS_MAX = 10000 };

struct start {
    void (*body)(void *);
    void *argument;
};

__attribute__((noreturn, used)) static void run(struct start *start)
{
    start->body(start->argument);
    for (;;)
        sys_call1(SYS_exit, 0);
}

/* clone into run(start) on another stack. The child never returns through this function. */
#if defined(__x86_64__)
static long clone_into(unsigned long flags, void *stack_top, struct start *start,
                       _Atomic uint32_t *tid)
{
    register _Atomic uint32_t *r10 __asm__("r10") = tid;
    register long r8 __asm__("r8") = 0;
    register struct start *r12 __asm__("r12") = start;
    long result;

    __asm__ volatile("syscall\n\t"
                     "test %%eax, %%eax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "mov %%r12, %%rdi\n\t"
                     "call *%[run]\n\t"
                     "1:"
                     : "=a"(result)
                     : "0"(SYS_clone), "D"(flags), "S"(stack_top), "d"(tid), "r"(r10), "r"(r8),
                       "r"(r12), [run] "r"(run)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static long clone_into(unsigned long flags, void *stack_top, struct start *start,
                       _Atomic uint32_t *tid)
{
    register long x8 __asm__("x8") = SYS_clone;
    register unsigned long x0 __asm__("x0") = flags;
    register void *x1 __asm__("x1") = stack_top;
    register _Atomic uint32_t *x2 __asm__("x2") = tid;
    register long x3 __asm__("x3") = 0;
    register _Atomic uint32_t *x4 __asm__("x4") = tid;
    register struct start *x19 __asm__("x19") = start;
    register void (*x20)(struct start *) __asm__("x20") = run;

    __asm__ volatile("svc #0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, #0\n\t"
                     "mov x30, #0\n\t"
                     "mov x0, x19\n\t"
                     "blr x20\n\t"
                     "1:"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x19), "r"(x20)
                     : "memory");
    return (long)x0;
}
#endif

static long mask_all(uint64_t *before)
{
    uint64_t all = ~UINT64_C(0);

    return sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &all, before, KERNEL_SIGSET_BYTES);
}

int raw_thread_start(struct raw_thread *thread, void (*body)(void *), void *argument)
{
    /* No CLONE_FILES: its own descriptors. CLONE_FS: chroot and chdir are the whole process's. */
    const unsigned long flags = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                                CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    struct start *start;
    uint64_t mask;
    long tid;

    thread->stack = pages_new(STACK_BYTES);
    thread->stack_bytes = STACK_BYTES;
    if (!thread->stack)
        return -12; /* ENOMEM */
    start = (struct start *)((uint8_t *)thread->stack + STACK_BYTES - 64);
    *start = (struct start){ body, argument };
    mask_all(&mask);
    tid = clone_into(flags, start, start, &thread->tid);
    sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, 0, KERNEL_SIGSET_BYTES);
    if (tid < 0) {
        raw_thread_forget(thread);
        return (int)tid;
    }
    thread->last_tid = (int)tid;
    return 0;
}

/* The kernel clears the tid while the thread still counts as one of the process. */
static void wait_until_gone(int tid)
{
    const struct timespec moment = { 0, 20 * 1000 };

    for (int i = 0; i < LOOKS_MAX && sys_call3(SYS_tgkill, sys_call0(SYS_getpid), tid, 0) == 0; i++)
        sys_call2(SYS_nanosleep, &moment, 0);
    /* It is taken off all lists under one lock, which this (signal 0 to our process group: nothing
     * is sent) waits for. */
    sys_call2(SYS_kill, 0, 0);
}

void raw_thread_join(struct raw_thread *thread)
{
    uint32_t tid;

    if (!thread->stack)
        return;
    while ((tid = atomic_load(&thread->tid)) != 0)
        sys_futex(&thread->tid, FUTEX_WAIT, tid, NULL);
    wait_until_gone(thread->last_tid);
    raw_thread_forget(thread);
}

void raw_thread_forget(struct raw_thread *thread)
{
    pages_free(thread->stack, thread->stack_bytes);
    thread->stack = NULL;
    atomic_store(&thread->tid, 0);
}
