/*
 * arch_x86_64.h - what the unwinder must know of x86-64. Mirrors arch_aarch64.h; included by arch.h
 * only.
 *
 * Register numbers are DWARF's (System V ABI, x86-64 supplement, figure 3.36).
 */
#ifndef ISOSCOPE_ARCH_X86_64_H
#define ISOSCOPE_ARCH_X86_64_H

#include "../../feed/signal_safe.h"
#include "../../feed/sys.h"

#include <asm/prctl.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

enum {
    ARCH_FP = 6,    /* rbp */
    ARCH_SP = 7,    /* rsp */
    ARCH_RA = 16,   /* the return address column */
    ARCH_THIRD = 3, /* rbx: the loader's entry for a function's first call keeps its CFA there */
    ARCH_REGS = 16,
};

/* What perf is asked for: frame pointer, stack pointer, pc, with the numbers of asm/perf_regs.h. */
#define ARCH_PERF_REGS (1u << 6 | 1u << 7 | 1u << 8)

/* Bytes below the stack pointer that a signal does not touch. */
enum { ARCH_RED_ZONE = 128 };

/* A call pushes the return address: it lies right under the CFA in every frame. */
enum { ARCH_RA_OFFSET = -8 };

SIGNAL_SAFE_INLINE uint64_t arch_pc(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

SIGNAL_SAFE_INLINE void arch_set_pc(ucontext_t *context, uint64_t pc)
{
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
}

/* The base of the calling thread's thread-local memory; by a system call, for a thread may have none. */
SIGNAL_SAFE_INLINE uint64_t arch_thread_pointer(void)
{
    uint64_t base = 0;

    sys_call2(SYS_arch_prctl, ARCH_GET_FS, &base);
    return base;
}

SIGNAL_SAFE_INLINE uint64_t arch_register(const ucontext_t *context, unsigned dwarf)
{
    /* A switch, not a table: a table would lie outside the signal-safe section. */
    switch (dwarf) {
    case 0:
        return (uint64_t)context->uc_mcontext.gregs[REG_RAX];
    case 1:
        return (uint64_t)context->uc_mcontext.gregs[REG_RDX];
    case 2:
        return (uint64_t)context->uc_mcontext.gregs[REG_RCX];
    case 3:
        return (uint64_t)context->uc_mcontext.gregs[REG_RBX];
    case 4:
        return (uint64_t)context->uc_mcontext.gregs[REG_RSI];
    case 5:
        return (uint64_t)context->uc_mcontext.gregs[REG_RDI];
    case 6:
        return (uint64_t)context->uc_mcontext.gregs[REG_RBP];
    case 7:
        return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    case 8:
        return (uint64_t)context->uc_mcontext.gregs[REG_R8];
    case 9:
        return (uint64_t)context->uc_mcontext.gregs[REG_R9];
    case 10:
        return (uint64_t)context->uc_mcontext.gregs[REG_R10];
    case 11:
        return (uint64_t)context->uc_mcontext.gregs[REG_R11];
    case 12:
        return (uint64_t)context->uc_mcontext.gregs[REG_R12];
    case 13:
        return (uint64_t)context->uc_mcontext.gregs[REG_R13];
    case 14:
        return (uint64_t)context->uc_mcontext.gregs[REG_R14];
    default:
        return (uint64_t)context->uc_mcontext.gregs[REG_R15];
    }
}

/* Where the kernel put the interrupted registers: a handler returns to the restorer with the
 * stack pointer at the ucontext. */
SIGNAL_SAFE_INLINE uint64_t arch_signal_context(uint64_t restorer_sp)
{
    return restorer_sp;
}

/* The bytes before a pc that tell whether a system call ends there. */
enum { ARCH_SYSCALL_BYTES = 2 };

SIGNAL_SAFE_INLINE bool arch_is_syscall(const uint8_t code[ARCH_SYSCALL_BYTES])
{
    return (code[0] == 0x0f && (code[1] == 0x05 || code[1] == 0x34)) || /* syscall, sysenter */
           (code[0] == 0xcd && code[1] == 0x80);                        /* int 0x80 */
}

/* How much of its frame a function with a frame pointer has set up. */
enum arch_frame { ARCH_FRAME_NONE, ARCH_FRAME_PUSHED, ARCH_FRAME_SET };

/* Without a frame: the call pushed the return address. */
enum { ARCH_FRAMELESS_BYTES = 8 };
#define ARCH_FRAMELESS_PLACE CFI_AT_CFA

/* code: the bytes at the pc, little endian. */
SIGNAL_SAFE_INLINE enum arch_frame arch_frame_at(uint32_t code)
{
    if (code == 0xfa1e0ff3 || (code & 0xff) == 0x55) /* endbr64; push rbp */
        return ARCH_FRAME_NONE;
    if ((code & 0xff) == 0xc3 || (code & 0xff) == 0xc2) /* ret, after pop rbp */
        return ARCH_FRAME_NONE;
    if ((code & 0xffffff) == 0xe58948 || (code & 0xffffff) == 0xec8b48) /* mov rbp, rsp */
        return ARCH_FRAME_PUSHED;
    return ARCH_FRAME_SET;
}

/* A trampoline calls one function, in a frame of fixed size: sub rsp, N; call *rcx; add rsp, N; ret
 * (CPython's). code: at the pc. 0: it is none; else bytes up to the caller's stack pointer. leaf:
 * the pc is where it was interrupted, not where a call returns to. */
enum { ARCH_TRAMPOLINE_BYTES = 8 };

SIGNAL_SAFE_INLINE uint64_t arch_trampoline_frame(const uint8_t code[ARCH_TRAMPOLINE_BYTES],
                                                  bool leaf)
{
    bool before = leaf && code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xec &&
                  code[4] == 0xff && code[5] == 0xd1;
    const uint8_t *end = leaf && code[0] == 0xff && code[1] == 0xd1 ? code + 2 : code;

    if (before)
        return 8;
    return end[0] == 0x48 && end[1] == 0x83 && end[2] == 0xc4 && end[3] < 0x80 && end[4] == 0xc3
               ? end[3] + 8u
               : 0;
}

/* The registers by which a stack is walked, at this very place. */
SIGNAL_SAFE_INLINE void arch_here(ucontext_t *context)
{
    greg_t *out = context->uc_mcontext.gregs;

    __asm__ volatile("leaq 0(%%rip), %%rax\n\t"
                     "movq %%rax, %c[rip](%[out])\n\t"
                     "movq %%rsp, %c[rsp](%[out])\n\t"
                     "movq %%rbp, %c[rbp](%[out])\n\t"
                     "movq %%rbx, %c[rbx](%[out])\n\t"
                     "movq %%r12, %c[r12](%[out])\n\t"
                     "movq %%r13, %c[r13](%[out])\n\t"
                     "movq %%r14, %c[r14](%[out])\n\t"
                     "movq %%r15, %c[r15](%[out])"
                     :
                     : [out] "r"(out), [rip] "i"(REG_RIP * 8), [rsp] "i"(REG_RSP * 8),
                       [rbp] "i"(REG_RBP * 8), [rbx] "i"(REG_RBX * 8), [r12] "i"(REG_R12 * 8),
                       [r13] "i"(REG_R13 * 8), [r14] "i"(REG_R14 * 8), [r15] "i"(REG_R15 * 8)
                     : "rax", "memory");
}

/* Calls a function on another stack. end: its end, a multiple of 16. */
SIGNAL_SAFE_INLINE void arch_call_on(void *end, void (*function)(void *), void *argument)
{
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %[end], %%rsp\n\t"
                     "call *%[function]\n\t"
                     "movq %%rbx, %%rsp"
                     : [function] "+r"(function), "+D"(argument), [end] "+r"(end)
                     :
                     : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1",
                       "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                       "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
}

#endif
