/*
 * record FILE - makes recorded stacks (stack_file.h) of this very program.
 *
 *     cc -O2 -D_GNU_SOURCE -static -no-pie -Wl,--eh-frame-hdr record.c -o record && ./record
 * x86_64.stack aarch64-linux-gnu-gcc -O2 -D_GNU_SOURCE -static -no-pie -Wl,--eh-frame-hdr record.c
 * -o record && qemu-aarch64 ./record aarch64.stack
 *
 * The stacks have what makes unwinding hard: a library's frames (qsort), a variable and a realigned
 * frame, recursion, and a signal that interrupts a loop at an instruction nobody chose; a call that
 * does not return, at a function's end; a stack of makecontext; and on x86-64, a prologue and an
 * epilogue.
 */
#include "stack_file.h"

#include <alloca.h>
#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

extern void *__libc_stack_end;

static struct stack_file file;
static uint64_t frames[STACK_FILE_FRAMES_MAX];
static _Alignas(64) char coroutine_stack[16 * 1024];
static const char *path;

#if defined(__x86_64__)
static void take_registers(const ucontext_t *context)
{
    static const int by_dwarf[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                    REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                    REG_R12, REG_R13, REG_R14, REG_R15 };

    for (int i = 0; i < 16; i++)
        file.registers[i] = (uint64_t)context->uc_mcontext.gregs[by_dwarf[i]];
    file.pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    file.stack_address = file.registers[7] - 128; /* the red zone */
    file.machine = EM_X86_64;
}
#else
static void take_registers(const ucontext_t *context)
{
    for (int i = 0; i < 31; i++)
        file.registers[i] = context->uc_mcontext.regs[i];
    file.registers[31] = context->uc_mcontext.sp;
    file.pc = context->uc_mcontext.pc;
    file.stack_address = file.registers[31];
    file.machine = EM_AARCH64;
}
#endif

static int take_module(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + phdr->p_vaddr;

        if (phdr->p_type == PT_LOAD && (phdr->p_flags & PF_X)) {
            file.code_start = start;
            file.code_end = start + phdr->p_memsz;
        } else if (phdr->p_type == PT_GNU_EH_FRAME) {
            file.header_address = start;
            file.header_bytes = phdr->p_memsz;
        }
    }
    return 1;
}

/* .eh_frame's address stands in the header (pcrel, sdata4); it ends with a length of zero. */
static void take_eh_frame(void)
{
    const uint8_t *header = (const uint8_t *)file.header_address;
    int32_t relative;
    uint64_t at;
    uint32_t length;

    memcpy(&relative, header + 4, sizeof relative);
    file.eh_frame_address = at = (uint64_t)(header + 4 + relative);
    while (memcpy(&length, (const void *)at, sizeof length), length)
        at += 4 + length;
    file.eh_frame_bytes = at + 4 - file.eh_frame_address;
}

static void put(FILE *out, uint64_t address, uint64_t bytes)
{
    if (fwrite((const void *)address, 1, bytes, out) != bytes)
        exit(1);
}

struct trace {
    uint32_t count;
    bool began; /* the handler and the kernel's frame are not of the interrupted stack */
};

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *argument)
{
    struct trace *trace = argument;
    int exact = 0;
    uint64_t pc = (uint64_t)_Unwind_GetIPInfo(context, &exact);

    trace->began |= pc == file.pc;
    if (trace->began && pc && trace->count < STACK_FILE_FRAMES_MAX)
        frames[trace->count++] = pc | (exact ? STACK_FILE_EXACT : 0);
    return _URC_NO_REASON;
}

static uint64_t stack_end(void)
{
    uint64_t low = (uint64_t)coroutine_stack;

    if (file.stack_address - low < sizeof coroutine_stack)
        return low + sizeof coroutine_stack;
    return (uint64_t)__libc_stack_end + 64;
}

/* Appends the interrupted stack, and ends. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    struct trace trace = { 0 };
    FILE *out = fopen(path, "ab");

    (void)number;
    (void)info;
    take_registers(context);
    _Unwind_Backtrace(take_frame, &trace);
    if (!out || !trace.count)
        exit(1);
    file.magic = STACK_FILE_MAGIC;
    file.frame_count = trace.count;
    file.stack_bytes = stack_end() - file.stack_address;
    if (!ftell(out)) {
        dl_iterate_phdr(take_module, NULL);
        take_eh_frame();
    }
    put(out, (uint64_t)&file, sizeof file);
    put(out, file.header_address, file.header_bytes);
    put(out, file.eh_frame_address, file.eh_frame_bytes);
    put(out, file.stack_address, file.stack_bytes);
    put(out, (uint64_t)frames, file.frame_count * sizeof frames[0]);
    fclose(out);
    exit(0);
}

__attribute__((noinline)) static int spin(int depth)
{
    volatile int sum = depth;

    for (;;)
        sum += depth;
    return sum;
}

__attribute__((noinline)) static int recurse(int depth)
{
    volatile char room[48];

    room[depth % 48] = (char)depth;
    return (depth ? recurse(depth - 1) : spin(depth)) + room[depth % 48];
}

__attribute__((noinline)) static int in_a_realigned_frame(int bytes)
{
    _Alignas(64) volatile char aligned[64];
    volatile char *variable = alloca((size_t)bytes);

    aligned[bytes % 64] = 1;
    variable[0] = aligned[bytes % 64];
    return recurse(8) + variable[0] + aligned[0];
}

static int compare(const void *a, const void *b)
{
    return in_a_realigned_frame(*(const int *)a * 100) - *(const int *)b;
}

static void record_at(int number, int signal_after_us)
{
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
    struct itimerval soon = { .it_value = { 0, signal_after_us } };

    sigaction(number, &action, NULL);
    setitimer(ITIMER_VIRTUAL, &soon, NULL);
}

static void in_a_library(void)
{
    int numbers[] = { 3, 1, 2 };

    record_at(SIGVTALRM, 50000);
    qsort(numbers, 3, sizeof numbers[0], compare);
}

__attribute__((noinline, noreturn)) static void never_returns(int depth)
{
    spin(depth);
    abort();
}

/* The call is its last instruction: what is returned to would be the next function. */
__attribute__((noinline)) static void behind_the_end(int depth)
{
    volatile char room[24];

    room[depth % 24] = 1;
    never_returns(depth + room[depth % 24]);
}

static void at_the_end(void)
{
    record_at(SIGVTALRM, 50000);
    behind_the_end(2);
}

static void body(void)
{
    record_at(SIGVTALRM, 50000);
    recurse(2);
}

static void on_another_stack(void)
{
    static ucontext_t here, there;

    getcontext(&there);
    there.uc_stack.ss_sp = coroutine_stack;
    there.uc_stack.ss_size = sizeof coroutine_stack;
    there.uc_link = &here;
    makecontext(&there, body, 0);
    swapcontext(&here, &there);
}

#if defined(__x86_64__)
/* Elsewhere handlers return to code of the kernel's, which is not in the program's one module. */
static void interrupt(int number)
{
    spin(number);
}

/* A signal's handler, which interrupted code at an instruction nobody chose. */
static void in_a_handler(void)
{
    struct sigaction action = { .sa_handler = interrupt };
    struct itimerval soon = { .it_value = { 0, 20000 } };

    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &soon, NULL);
    record_at(SIGVTALRM, 100000);
    recurse(3);
}

enum { TRAP_FLAG = 0x100, RET = 0xc3, STEPPED_BYTES = 64 };

static bool wants_ret; /* else: the second instruction */

/* Opaque to the compiler: else nothing would be left of the caller. */
__attribute__((noipa)) static int same(int number)
{
    return number;
}

__attribute__((noipa)) static int stepped(int depth)
{
    /* It pushes a register: depth is needed after the call. */
    return same(depth) + depth;
}

static void on_step(int number, siginfo_t *info, void *context)
{
    ucontext_t *stopped = context;
    uint64_t pc = (uint64_t)stopped->uc_mcontext.gregs[REG_RIP], at = (uint64_t)stepped;

    stopped->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    if (wants_ret ? pc - at < STEPPED_BYTES && *(const uint8_t *)pc == RET
                  : pc - at - 1 < STEPPED_BYTES)
        on_signal(number, info, context);
}

/* After the function's first instruction, and before its last. */
static void step(void)
{
    struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };

    sigaction(SIGTRAP, &action, NULL);
    raise(SIGTRAP);
    exit(stepped(1) == 0);
}

static void in_a_prologue(void)
{
    step();
}

static void in_an_epilogue(void)
{
    wants_ret = true;
    step();
}
#endif

static void (*const places[])(void) = {
    in_a_library, at_the_end,    on_another_stack,
#if defined(__x86_64__)
    in_a_handler, in_a_prologue, in_an_epilogue,
#endif
};

int main(int count, char **words)
{
    if (count != 2)
        return 2;
    path = words[1];
    remove(path);
    backtrace((void *[]){ NULL, NULL }, 2);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int status = 1;

        if (fork() == 0) {
            places[i]();
            exit(1);
        }
        if (wait(&status) < 0 || status) {
            fprintf(stderr, "stack %zu was not recorded: status %x\n", i + 1, status);
            return 1;
        }
    }
    return 0;
}
