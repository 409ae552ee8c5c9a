/*
 * record FILE - makes a recorded stack (stack_file.h) of this very program.
 *
 *     cc -O2 -D_GNU_SOURCE -static -no-pie -Wl,--eh-frame-hdr record.c -o record && ./record
 * x86_64.stack aarch64-linux-gnu-gcc -O2 -D_GNU_SOURCE -static -no-pie -Wl,--eh-frame-hdr record.c
 * -o record && qemu-aarch64 ./record aarch64.stack
 *
 * The stack has what makes unwinding hard: a library's frames (qsort), a variable and a realigned
 * frame, recursion, and a signal that interrupts a loop at an instruction nobody chose.
 */
#include "stack_file.h"

#include <alloca.h>
#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

extern void *__libc_stack_end;

static struct stack_file file;
static void *frames[STACK_FILE_FRAMES_MAX];
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

static void on_signal(int number, siginfo_t *info, void *context)
{
    int skip = 0, count = backtrace(frames, STACK_FILE_FRAMES_MAX);
    FILE *out = fopen(path, "wb");

    (void)number;
    (void)info;
    take_registers(context);
    /* The handler and the kernel's frame are not of the interrupted stack. */
    while (skip < count && (uint64_t)frames[skip] != file.pc)
        skip++;
    if (!out || skip == count)
        exit(1);
    file.magic = STACK_FILE_MAGIC;
    file.frame_count = (uint32_t)(count - skip);
    file.stack_bytes = (uint64_t)__libc_stack_end + 64 - file.stack_address;
    dl_iterate_phdr(take_module, NULL);
    take_eh_frame();
    put(out, (uint64_t)&file, sizeof file);
    put(out, file.header_address, file.header_bytes);
    put(out, file.eh_frame_address, file.eh_frame_bytes);
    put(out, file.stack_address, file.stack_bytes);
    put(out, (uint64_t)&frames[skip], file.frame_count * sizeof(void *));
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

int main(int count, char **words)
{
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
    struct itimerval soon = { .it_value = { 0, 50000 } };
    int numbers[] = { 3, 1, 2 };

    if (count != 2)
        return 2;
    path = words[1];
    backtrace(frames, 2);
    sigaction(SIGVTALRM, &action, NULL);
    setitimer(ITIMER_VIRTUAL, &soon, NULL);
    qsort(numbers, 3, sizeof numbers[0], compare);
    return 1;
}
