#include "inject_place.h"

#include "inject_objects.h"

#include "../stacks/held_stack.h"

#include "../../capture/system/clock.h"
#include "../../capture/system/memory.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS_NS INT64_C(1000000)

enum {
    EVENT_SHIFT = 16,
    CALL_STOP = SIGTRAP | 0x80,
    ONE_THREAD_MS = 40, /* that runs, in one look at it */
    SETTLE_MS = 200,
    THREADS_MAX = 4096,
    SCAN_BYTES_MAX = 256 * 1024,
    LIBRARY_BYTES_MAX = 1024 * 1024,
    SIGNALS_MAX = 16,
    PATH_BYTES = 96,
    /* The kernel's own, between it and itself. Source: include/linux/errno.h */
    RESTART_LEAST = 512,
    RESTART_MOST = 516,
};

int inject_await(pid_t tid, int64_t until_ns)
{
    const struct timespec moment = { 0, 50 * 1000 };
    int status;

    do {
        pid_t got = waitpid(tid, &status, __WALL | WNOHANG);

        if (got == tid)
            return status;
        if (got < 0 && errno != EINTR)
            return -1;
        nanosleep(&moment, NULL);
    } while ((int64_t)clock_ns(CLOCK_MONOTONIC) < until_ns);
    return -1;
}

bool inject_get(pid_t tid, struct user_regs_struct *out)
{
    struct iovec room = { out, sizeof(*out) };

    return ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &room) == 0;
}

bool inject_set(pid_t tid, const struct user_regs_struct *registers)
{
    struct iovec room = { (void *)registers, sizeof(*registers) };

    return ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &room) == 0;
}

uint64_t inject_status_hex(pid_t pid, pid_t tid, const char *word)
{
    char path[PATH_BYTES], line[256];
    uint64_t value = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file))
        if (!strncmp(line, word, strlen(word)))
            value = strtoull(line + strlen(word), NULL, 16);
    if (file)
        fclose(file);
    return value;
}

/* ---- where it is safe ---- */

/* Calls that are not made inside malloc, the loader, or stdio's locks. */
static bool is_harmless(long call)
{
    static const long calls[] = {
#if defined(__x86_64__)
        SYS_epoll_wait,
        SYS_poll,
        SYS_select,
        SYS_pause,
        SYS_time,
        SYS_alarm,
#endif
        SYS_epoll_pwait,
        SYS_ppoll,
        SYS_pselect6,
        SYS_nanosleep,
        SYS_clock_nanosleep,
        SYS_accept,
        SYS_accept4,
        SYS_recvfrom,
        SYS_recvmsg,
        SYS_sendto,
        SYS_sendmsg,
        SYS_connect,
        SYS_write,
        SYS_writev,
        SYS_wait4,
        SYS_waitid,
        SYS_rt_sigtimedwait,
        SYS_rt_sigsuspend,
        SYS_epoll_ctl,
        SYS_getpid,
        SYS_getppid,
        SYS_gettid,
        SYS_getuid,
        SYS_geteuid,
        SYS_getgid,
        SYS_getegid,
        SYS_clock_gettime,
        SYS_gettimeofday,
        SYS_times,
        SYS_getrusage,
        SYS_kill,
        SYS_socket,
        SYS_setsockopt,
        SYS_getsockopt,
        SYS_bind,
        SYS_listen,
        SYS_shutdown,
        SYS_timer_settime,
        SYS_timerfd_settime,
        SYS_setitimer,
        SYS_sysinfo,
        SYS_umask,
    };

    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        if (calls[i] == call)
            return true;
    return false;
}

/* A read that sleeps is one of a pipe, a socket or a terminal: nobody waits there with a lock of libc's. */
static bool is_wait(long call)
{
    return is_harmless(call) || call == SYS_read || call == SYS_readv;
}

/* The stack has where a handler returns to, which may be of one that has returned long ago. */
static bool is_in_handler(const struct inject_held *held)
{
    struct thread_stacks *stacks = held_stack(held->program->pid, &held->resume.registers);
    const struct stack_thread *thread = stacks ? stacks->threads : NULL;
    bool in_handler = !thread || !thread->complete;

    for (uint32_t i = 0; !in_handler && i < thread->depth; i++)
        in_handler = thread->frames[i].pc == held->program->back ||
                     thread->frames[i].pc + 1 == held->program->back;
    thread_stacks_free(stacks);
    return in_handler;
}

/* It is in the sampler of an earlier injection, which takes a sample just now: the sampler would wait for it. */
static bool is_in_sampler(const struct inject_held *held)
{
    uint64_t pc = inject_pc(&held->resume.registers);
    struct inject_object library;

    return inject_object_find(&library, held->program->pid, INJECT_LIBRARY) && pc >= library.code &&
           pc < library.code_end;
}

/* Its stack is libc's for this thread, has room, and shows neither a signal's handler under way nor the sampler. */
static bool stands_well(const struct inject_held *held)
{
    const struct user_regs_struct *registers = &held->resume.registers;
    uint64_t sp = inject_stack_pointer(registers), thread = inject_thread_pointer(registers);
    uint64_t start, end, bytes;
    uint64_t *words;
    bool is_main, well = true;

    if (!inject_mapping(held->program->pid, sp, &start, &end, &is_main) ||
        !(is_main || (thread > sp && thread < end)) ||
        sp - start < inject_frame_bytes(&held->resume) + INJECT_RED_ZONE + 2 * 64 ||
        is_in_sampler(held))
        return false;
    bytes = end - sp < SCAN_BYTES_MAX ? end - sp : SCAN_BYTES_MAX;
    words = malloc(bytes);
    if (!words ||
        !memory_read(held->program->pid, words, sp & ~UINT64_C(7), bytes & ~UINT64_C(7))) {
        free(words);
        return false;
    }
    for (uint64_t i = 0; well && i < bytes / sizeof(*words); i++)
        well = words[i] != held->program->back;
    free(words);
    return well || !is_in_handler(held);
}

/* A tick of the sampler's: of the processor's time, with an address in the library for its value; or a trap. */
static bool is_tick(const siginfo_t *signal, const struct inject_object *library)
{
    uint64_t value = (uint64_t)signal->si_value.sival_ptr;

    return (signal->si_signo == SIGTRAP && signal->si_code > 0) ||
           (signal->si_code == SI_TIMER && library->base && value >= library->base &&
            value - library->base < LIBRARY_BYTES_MAX);
}

/* Of one of its two queues: signals that are the program's, and not blocked. */
static bool has_in_queue(const struct inject_held *held, uint32_t queue,
                         const struct inject_object *library)
{
    siginfo_t signals[SIGNALS_MAX];
    struct __ptrace_peeksiginfo_args which = { 0, queue, SIGNALS_MAX };
    long count = ptrace(PTRACE_PEEKSIGINFO, held->tid, &which, signals);

    for (long i = 0; i < count; i++)
        if (!(held->resume.mask & UINT64_C(1) << (signals[i].si_signo - 1)) &&
            !is_tick(&signals[i], library))
            return true;
    return false;
}

static bool has_signals(const struct inject_held *held)
{
    struct inject_object library = { 0 };
    pid_t pid = held->program->pid;

    if (!((inject_status_hex(pid, held->tid, "SigPnd:") |
           inject_status_hex(pid, held->tid, "ShdPnd:")) &
          ~held->resume.mask))
        return false;
    inject_object_find(&library, pid, INJECT_LIBRARY);
    return has_in_queue(held, 0, &library) ||
           has_in_queue(held, PTRACE_PEEKSIGINFO_SHARED, &library);
}

/* What there is to give back. */
static bool take_context(struct inject_held *held)
{
    struct iovec vectors = { held->vectors, sizeof(held->vectors) };

    held->resume = (struct inject_context){ .registers = held->as_left };
    if (ptrace(PTRACE_GETREGSET, held->tid, (void *)INJECT_VECTORS, &vectors) < 0 ||
        vectors.iov_len == sizeof(held->vectors) ||
        ptrace(PTRACE_GETSIGMASK, held->tid, sizeof(held->resume.mask), &held->resume.mask) < 0)
        return false;
    held->resume.vectors = held->vectors;
    held->resume.vectors_bytes = vectors.iov_len;
    return true;
}

static bool was_cut(const struct user_regs_struct *registers)
{
    long result = inject_result(registers);

    return result == -EINTR || (-result >= RESTART_LEAST && -result <= RESTART_MOST);
}

/* In a stop of PTRACE_INTERRUPT: in a wait that this has cut short? Then the wait begins anew afterwards. */
static bool is_cut_wait(struct inject_held *held)
{
    uint8_t bytes[2];

    if (!inject_get(held->tid, &held->as_left) || !is_wait(inject_call_number(&held->as_left)) ||
        !was_cut(&held->as_left) ||
        !memory_read(held->program->pid, bytes, inject_call_place(&held->as_left), sizeof(bytes)) ||
        !inject_is_call(bytes) || !take_context(held) || has_signals(held))
        return false;
    held->was_cut = true;
    inject_call_again(&held->resume.registers);
    if (stands_well(held))
        return true;
    inject_set(held->tid, &held->resume.registers); /* nobody sees that it was cut */
    return false;
}

/* In a stop at a call: at the end of a harmless one? */
static bool is_call_end(struct inject_held *held)
{
    struct __ptrace_syscall_info info;

    if (ptrace(PTRACE_GET_SYSCALL_INFO, held->tid, sizeof(info), &info) <= 0 ||
        info.op != PTRACE_SYSCALL_INFO_EXIT || !inject_get(held->tid, &held->as_left) ||
        !is_harmless(inject_call_number(&held->as_left)) || was_cut(&held->as_left) ||
        !take_context(held))
        return false;
    held->was_cut = false;
    return stands_well(held);
}

/* ---- looking for it ---- */

static void leave(pid_t tid)
{
    int status;

    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0) {
        status = inject_await(tid, (int64_t)clock_ns(CLOCK_MONOTONIC) + SETTLE_MS * MS_NS);
        if (status >= 0 && WIFSTOPPED(status))
            ptrace(PTRACE_DETACH, tid, NULL,
                   (void *)(long)(status >> EVENT_SHIFT || WSTOPSIG(status) == CALL_STOP
                                      ? 0
                                      : WSTOPSIG(status)));
    }
}

/* True: it is held at a safe place. Else it runs on. */
static bool follow(struct inject_held *held, int64_t until_ns)
{
    bool asked = true; /* PTRACE_INTERRUPT was said, and its stop has not come */
    bool last = false; /* ... when the time was over: no other one is said */

    for (;;) {
        int status = inject_await(held->tid, until_ns), signal = 0;

        if (status == -1 && !last) { /* in a call that takes its time: where it waits may do */
            if (!asked && ptrace(PTRACE_INTERRUPT, held->tid, NULL, NULL) < 0)
                return false;
            asked = last = true;
            until_ns += SETTLE_MS * MS_NS;
            continue;
        }
        if (status == -1 || !WIFSTOPPED(status))
            return false;
        if (status >> EVENT_SHIFT == PTRACE_EVENT_STOP) {
            if (asked && is_cut_wait(held))
                return true;
            asked = false;
        } else if (WSTOPSIG(status) == CALL_STOP) {
            if (is_call_end(held))
                return true;
        } else {
            signal = WSTOPSIG(status);
        }
        if (last || (int64_t)clock_ns(CLOCK_MONOTONIC) >= until_ns) {
            ptrace(PTRACE_DETACH, held->tid, NULL, (void *)(long)signal);
            return false;
        }
        ptrace(PTRACE_SYSCALL, held->tid, NULL, (void *)(long)signal);
    }
}

/* What a thread does now: its call, -1 in none (it runs), -2 unknown. */
static long call_of(pid_t pid, pid_t tid)
{
    char path[PATH_BYTES], text[32] = "";
    FILE *file;
    long call = -2;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
    file = fopen(path, "re");
    if (file && fgets(text, sizeof(text), file))
        call = text[0] == 'r' ? -1 : strtol(text, NULL, 10);
    if (file)
        fclose(file);
    return call;
}

static bool try_thread(struct inject_held *held, pid_t tid, int64_t until_ns)
{
    held->tid = tid;
    if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)PTRACE_O_TRACESYSGOOD) < 0)
        return false;
    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
        return false;
    if (follow(held, until_ns))
        return true;
    leave(tid);
    return false;
}

/* Sleepers that are in a wait, and threads that run; nobody else is touched: a stop would end some calls. */
static bool look_once(struct inject_held *held, int64_t until_ns)
{
    pid_t pid = held->program->pid;
    char path[PATH_BYTES];
    struct dirent *entry;
    bool found = false;
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    tasks = opendir(path);
    while (tasks && !found && (entry = readdir(tasks))) {
        pid_t tid = (pid_t)atol(entry->d_name);
        int64_t now_ns = (int64_t)clock_ns(CLOCK_MONOTONIC);
        int64_t slice_ns = now_ns + ONE_THREAD_MS * MS_NS;
        long call = tid > 0 ? call_of(pid, tid) : -2;

        if (now_ns < until_ns && (call == -1 || (call >= 0 && is_wait(call))))
            found = try_thread(held, tid, slice_ns < until_ns ? slice_ns : until_ns);
    }
    if (tasks)
        closedir(tasks);
    return found;
}

bool inject_place_find(struct inject_held *out, const struct inject_program *program,
                       int64_t until_ns, struct refusal *why)
{
    const struct timespec moment = { 0, 2 * MS_NS };

    out->program = program;
    do {
        if (look_once(out, until_ns))
            return true;
        nanosleep(&moment, NULL);
    } while (kill(program->pid, 0) == 0 && (int64_t)clock_ns(CLOCK_MONOTONIC) < until_ns);
    if (kill(program->pid, 0) < 0 && errno == ESRCH)
        return refusal_say(why, "process %d has ended", (int)program->pid);
    return refusal_say(why,
                       "no thread of process %d came out of a system call where loading a library "
                       "is safe: all wait "
                       "for locks or files, or compute without calls. Try again, or --via perf",
                       (int)program->pid);
}

void inject_release(const struct inject_held *held)
{
    struct iovec vectors = { (void *)held->vectors, held->resume.vectors_bytes };
    uint64_t mask = held->resume.mask;
    /* A signal of the program's that came meanwhile ends the wait, as it would have. */
    bool ends = held->was_cut && has_signals(held);

    ptrace(PTRACE_SETSIGMASK, held->tid, sizeof(mask), &mask);
    ptrace(PTRACE_SETREGSET, held->tid, (void *)INJECT_VECTORS, &vectors);
    inject_set(held->tid, ends ? &held->as_left : &held->resume.registers);
    ptrace(PTRACE_DETACH, held->tid, NULL, NULL);
}
