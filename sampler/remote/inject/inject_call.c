#include "inject_call.h"

#include "inject_objects.h"

#include "../../capture/system/clock.h"
#include "../../capture/system/memory.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define MS_NS INT64_C(1000000)

enum {
    EVENT_SHIFT = 16,
    CALL_STOP = SIGTRAP | 0x80,
    CODE_BYTES = 4096,
    STACK_BYTES = 256 * 1024, /* of the functions that are called */
    FRAME_BYTES = 32 * 1024,
    RESULT_AT = STACK_BYTES + FRAME_BYTES,
    TEXTS_AT = RESULT_AT + 64,
    DATA_BYTES = TEXTS_AT + 2 * INJECT_TEXT_BYTES + 4096,
    END_MS = 500,
    LOADER_BYTES_MAX = 1024 * 1024,
};

static bool say(const struct inject_call *call, struct refusal *why, const char *what)
{
    return refusal_say(why, "process %d: %s", (int)call->held->program->pid, what);
}

static bool write_memory(pid_t pid, uint64_t address, const void *bytes, size_t count)
{
    struct iovec from = { (void *)bytes, count }, to = { (void *)address, count };

    return process_vm_writev(pid, &from, 1, &to, 1, 0) == (ssize_t)count;
}

static bool put_frame(const struct inject_call *call, uint64_t at)
{
    const struct inject_context *resume = &call->held->resume;
    size_t bytes = inject_frame_bytes(resume);
    uint8_t *frame = calloc(1, bytes);
    bool done = false;

    if (frame) {
        inject_frame(resume, call->held->program->back, at, frame);
        done = write_memory(call->held->program->pid, at, frame, bytes);
    }
    free(frame);
    return done;
}

/* Only what a fault sends comes through; the rest waits. */
static void hold_signals(const struct inject_call *call)
{
    uint64_t mask = ~UINT64_C(0);
    static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };

    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
        mask &= ~(UINT64_C(1) << (faults[i] - 1));
    ptrace(PTRACE_SETSIGMASK, call->held->tid, sizeof(mask), &mask);
}

static bool is_fault(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
}

/* Runs until it is about to go back by the frame. *result: of the last system call on the way. */
static bool run(struct inject_call *call, const struct user_regs_struct *begin, uint64_t frame,
                long *result, struct refusal *why)
{
    pid_t tid = call->held->tid;
    struct user_regs_struct registers;
    struct __ptrace_syscall_info info;
    int signal = 0;

    if (!inject_set(tid, begin))
        return say(call, why, "it has ended while the sampler was being loaded");
    call->stops_by = frame;
    hold_signals(call);
    for (;;) {
        int status;

        ptrace(PTRACE_SYSCALL, tid, NULL, (void *)(long)signal);
        signal = 0;
        status = inject_await(tid, call->until_ns);
        if (status == -1 && (int64_t)clock_ns(CLOCK_MONOTONIC) >= call->until_ns) {
            call->left = true;
            return say(
                call, why,
                "loading or stopping the sampler took more than two seconds, and was given up");
        }
        if (status == -1 || !WIFSTOPPED(status)) {
            call->left = true;
            return say(call, why, "it has ended while the sampler was being loaded");
        }
        if (status >> EVENT_SHIFT)
            continue;
        if (WSTOPSIG(status) != CALL_STOP) {
            if (is_fault(WSTOPSIG(status)))
                return say(call, why,
                           "the sampler met a fault while it was being loaded, and was given up");
            signal = WSTOPSIG(status);
            continue;
        }
        if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) <= 0)
            continue;
        if (info.op == PTRACE_SYSCALL_INFO_EXIT && result)
            *result = (long)info.exit.rval;
        if (info.op == PTRACE_SYSCALL_INFO_ENTRY && inject_get(tid, &registers) &&
            inject_goes_back(&registers, frame))
            return true;
    }
}

static bool call_kernel(struct inject_call *call, long number, const uint64_t arguments[6],
                        uint64_t *out, struct refusal *why)
{
    struct user_regs_struct registers = call->held->resume.registers;
    long result = -ENOSYS;

    if (!put_frame(call, call->own_frame))
        return say(call, why, "its stack cannot be written");
    inject_set_call(&registers, call->held->program->call, call->own_frame, number, arguments);
    if (!run(call, &registers, call->own_frame, &result, why))
        return false;
    *out = (uint64_t)result;
    return true;
}

static bool map(struct inject_call *call, uint64_t bytes, int protection, uint64_t *out,
                struct refusal *why)
{
    const uint64_t arguments[6] = {
        0, bytes, (uint64_t)protection, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0
    };
    uint64_t got;

    if (!call_kernel(call, SYS_mmap, arguments, &got, why))
        return false;
    if ((int64_t)got < 0 && (int64_t)got > -4096)
        return say(call, why,
                   "the kernel gives it no memory for code: its security settings forbid that");
    *out = got;
    return true;
}

bool inject_call_begin(struct inject_call *call, struct inject_held *held, int64_t until_ns,
                       struct refusal *why)
{
    uint64_t thunk, sp = inject_stack_pointer(&held->resume.registers) - INJECT_RED_ZONE;

    *call = (struct inject_call){ .held = held, .until_ns = until_ns };
    call->own_frame = (sp - inject_frame_bytes(&held->resume)) & ~UINT64_C(63);
    if (!map(call, CODE_BYTES, PROT_READ | PROT_EXEC, &call->code, why) ||
        !map(call, DATA_BYTES, PROT_READ | PROT_WRITE, &call->data, why))
        return false;
    memcpy(&thunk, inject_thunk_bytes, sizeof(thunk));
    if (ptrace(PTRACE_POKEDATA, held->tid, (void *)call->code, (void *)thunk) < 0 ||
        !put_frame(call, call->data + STACK_BYTES))
        return say(call, why, "its memory cannot be written");
    return true;
}

bool inject_call_put(struct inject_call *call, int index, const void *bytes, size_t count,
                     uint64_t *address, struct refusal *why)
{
    *address = call->data + TEXTS_AT + (uint64_t)index * INJECT_TEXT_BYTES;
    if (count <= INJECT_TEXT_BYTES &&
        write_memory(call->held->program->pid, *address, bytes, count))
        return true;
    return say(call, why, "its memory cannot be written");
}

bool inject_call_function(struct inject_call *call, uint64_t function, uint64_t first,
                          uint64_t second, uint64_t *result, struct refusal *why)
{
    struct user_regs_struct registers = call->held->resume.registers;
    const uint64_t arguments[2] = { first, second };

    inject_set_function(&registers, call->code, call->data + STACK_BYTES, function, arguments,
                        call->data + RESULT_AT);
    if (!run(call, &registers, call->data + STACK_BYTES, NULL, why))
        return false;
    if (memory_read(call->held->program->pid, result, call->data + RESULT_AT, sizeof(*result)))
        return true;
    return say(call, why, "its memory cannot be read");
}

/* From anywhere to a stop of PTRACE_INTERRUPT on the way back: there registers may be set. False: it does not stop. */
static bool come_to_rest(struct inject_call *call)
{
    pid_t tid = call->held->tid;
    int64_t until_ns = (int64_t)clock_ns(CLOCK_MONOTONIC) + END_MS * MS_NS;
    struct user_regs_struct registers;
    int status;

    if (call->stops_by && inject_get(tid, &registers)) {
        /* Should we end now, it goes back by the frame. */
        inject_set_back(&registers, call->held->program->back, call->stops_by);
        inject_set(tid, &registers);
    }
    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
        return false;
    do {
        ptrace(PTRACE_CONT, tid, NULL, NULL);
        status = inject_await(tid, until_ns);
        if (status == -1 || !WIFSTOPPED(status))
            return false;
    } while (status >> EVENT_SHIFT != PTRACE_EVENT_STOP);
    return true;
}

static void unmap(struct inject_call *call, uint64_t start, uint64_t bytes)
{
    const uint64_t arguments[6] = { start, bytes, 0, 0, 0, 0 };
    struct refusal why;
    uint64_t ignored;

    if (start && !call->left)
        call_kernel(call, SYS_munmap, arguments, &ignored, &why);
}

/* Waiting for the loader's first lock, nothing has been done: the library is not even mapped. */
static bool has_done_nothing(const struct inject_call *call,
                             const struct user_regs_struct *registers)
{
    struct inject_object loader, library;
    pid_t pid = call->held->program->pid;
    uint64_t lock = inject_first_argument(registers);

    return inject_call_number(registers) == SYS_futex &&
           inject_object_find(&loader, pid, "ld-linux") && lock >= loader.base &&
           lock - loader.base < LOADER_BYTES_MAX &&
           !inject_object_find(&library, pid, INJECT_LIBRARY);
}

/* It is in the middle of something. What has begun is left to finish, and finds back by its frame: locks that it has would
 * stay locked for ever. */
static void give_up(struct inject_call *call)
{
    pid_t tid = call->held->tid;
    struct user_regs_struct registers;
    int status;

    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
        return;
    status = inject_await(tid, (int64_t)clock_ns(CLOCK_MONOTONIC) + END_MS * MS_NS);
    if (status == -1 || !WIFSTOPPED(status))
        return;
    if (inject_get(tid, &registers) && has_done_nothing(call, &registers))
        inject_release(call->held);
    else
        ptrace(PTRACE_DETACH, tid, NULL, NULL);
}

void inject_call_end(struct inject_call *call)
{
    if (call->left) {
        give_up(call);
        return;
    }
    call->until_ns = (int64_t)clock_ns(CLOCK_MONOTONIC) + END_MS * MS_NS;
    unmap(call, call->code, CODE_BYTES);
    unmap(call, call->data, DATA_BYTES);
    if (come_to_rest(call))
        inject_release(call->held);
}
