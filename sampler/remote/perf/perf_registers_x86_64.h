/*
 * perf_registers_x86_64.h - see perf_registers.h.
 */
#ifndef ISOSCOPE_PERF_REGISTERS_X86_64_H
#define ISOSCOPE_PERF_REGISTERS_X86_64_H

#include <asm/perf_regs.h>
#include <stdint.h>
#include <ucontext.h>

/* AX to IP, and R8 to R15. */
#define PERF_REGISTERS_MASK                                                                        \
    (((UINT64_C(1) << (PERF_REG_X86_IP + 1)) - 1) | UINT64_C(0xff) << PERF_REG_X86_R8)
enum { PERF_REGISTERS = PERF_REG_X86_IP + 1 + 8 };

static inline void perf_registers_take(const uint64_t values[PERF_REGISTERS], ucontext_t *out)
{
    static const int places[PERF_REGISTERS] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI,
                                                REG_RDI, REG_RBP, REG_RSP, REG_RIP, REG_R8,
                                                REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13,
                                                REG_R14, REG_R15 };

    for (int i = 0; i < PERF_REGISTERS; i++)
        out->uc_mcontext.gregs[places[i]] = (greg_t)values[i];
}

#endif
