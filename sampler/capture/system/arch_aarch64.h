/*
 * arch_aarch64.h - what the unwinder must know of aarch64. Mirrors arch_x86_64.h; included by
 * arch.h only.
 *
 * Register numbers are DWARF's (DWARF for the Arm 64-bit Architecture, section 4.1).
 */
#ifndef ISOSCOPE_ARCH_AARCH64_H
#define ISOSCOPE_ARCH_AARCH64_H

#include "../../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

enum {
    ARCH_FP = 29,
    ARCH_SP = 31,
    ARCH_RA = 30,     /* the link register */
    ARCH_THIRD = 255, /* none: here the loader's entry finds its CFA by the stack pointer */
    ARCH_REGS = 32,
};

/* What perf is asked for: frame pointer, stack pointer, pc, with the numbers of asm/perf_regs.h. */
#define ARCH_PERF_REGS (UINT64_C(1) << 29 | UINT64_C(1) << 31 | UINT64_C(1) << 32)

/* The kernel's signal frame begins right below the stack pointer. */
enum { ARCH_RED_ZONE = 0 };

SIGNAL_SAFE_INLINE uint64_t arch_pc(const ucontext_t *context)
{
    return context->uc_mcontext.pc;
}

SIGNAL_SAFE_INLINE void arch_set_pc(ucontext_t *context, uint64_t pc)
{
    context->uc_mcontext.pc = pc;
}

SIGNAL_SAFE_INLINE uint64_t arch_thread_pointer(void)
{
    uint64_t base;

    __asm__("mrs %0, tpidr_el0" : "=r"(base));
    return base;
}

SIGNAL_SAFE_INLINE uint64_t arch_register(const ucontext_t *context, unsigned dwarf)
{
    return dwarf == ARCH_SP ? context->uc_mcontext.sp : context->uc_mcontext.regs[dwarf % 31];
}

/* struct rt_sigframe begins with a siginfo of 128 bytes; the ucontext follows. */
SIGNAL_SAFE_INLINE uint64_t arch_signal_context(uint64_t restorer_sp)
{
    return restorer_sp + 128;
}

/* The bytes before a pc that tell whether a system call ends there. */
enum { ARCH_SYSCALL_BYTES = 4 };

SIGNAL_SAFE_INLINE bool arch_is_syscall(const uint8_t code[ARCH_SYSCALL_BYTES])
{
    return code[0] == 0x01 && code[1] == 0 && code[2] == 0 && code[3] == 0xd4; /* svc #0 */
}

/* How much of its frame a function with a frame pointer has set up. */
enum arch_frame { ARCH_FRAME_NONE, ARCH_FRAME_PUSHED, ARCH_FRAME_SET };

/* Without a frame: the return address is in the link register. */
enum { ARCH_FRAMELESS_BYTES = 0 };
#define ARCH_FRAMELESS_PLACE CFI_SAME

/* code: the instruction at the pc. */
SIGNAL_SAFE_INLINE enum arch_frame arch_frame_at(uint32_t code)
{
    if (code == 0xd503245f || code == 0xd503233f) /* bti c; paciasp */
        return ARCH_FRAME_NONE;
    if ((code & 0xffc07fff) == 0xa9807bfd || code == 0xd65f03c0) /* stp x29, x30, [sp, -n]!; ret */
        return ARCH_FRAME_NONE;
    if (code == 0x910003fd) /* mov x29, sp */
        return ARCH_FRAME_PUSHED;
    return ARCH_FRAME_SET;
}

/* Trampolines keep frame pointers here. */
enum { ARCH_TRAMPOLINE_BYTES = 4 };

SIGNAL_SAFE_INLINE uint64_t arch_trampoline_frame(const uint8_t code[ARCH_TRAMPOLINE_BYTES],
                                                  bool leaf)
{
    (void)code;
    (void)leaf;
    return 0;
}

/* The registers by which a stack is walked, at this very place. */
SIGNAL_SAFE_INLINE void arch_here(ucontext_t *context)
{
    unsigned long long *out = context->uc_mcontext.regs;
    unsigned long long *sp = &context->uc_mcontext.sp, *pc = &context->uc_mcontext.pc;

    __asm__ volatile("adr x9, .\n\t"
                     "str x9, [%[pc]]\n\t"
                     "mov x9, sp\n\t"
                     "str x9, [%[sp]]\n\t"
                     "stp x19, x20, [%[out], #152]\n\t"
                     "stp x21, x22, [%[out], #168]\n\t"
                     "stp x23, x24, [%[out], #184]\n\t"
                     "stp x25, x26, [%[out], #200]\n\t"
                     "stp x27, x28, [%[out], #216]\n\t"
                     "stp x29, x30, [%[out], #232]"
                     :
                     : [out] "r"(out), [sp] "r"(sp), [pc] "r"(pc)
                     : "x9", "memory");
}

/* Calls a function on another stack. end: its end, a multiple of 16. */
SIGNAL_SAFE_INLINE void arch_call_on(void *end, void (*function)(void *), void *argument)
{
    register void (*called)(void *) __asm__("x9") = function;
    register void *given __asm__("x0") = argument;
    register void *stack __asm__("x10") = end;

    __asm__ volatile("mov x19, sp\n\t"
                     "mov sp, x10\n\t"
                     "blr x9\n\t"
                     "mov sp, x19"
                     : "+r"(given), "+r"(called), "+r"(stack)
                     :
                     : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x11", "x12", "x13", "x14",
                       "x15", "x16", "x17", "x18", "x19", "x30", "v0", "v1", "v2", "v3", "v4", "v5",
                       "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16",
                       "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27",
                       "v28", "v29", "v30", "v31", "cc", "memory");
}

#endif
