/*
 * perf_registers_aarch64.h - see perf_registers.h.
 */
#ifndef ISOSCOPE_PERF_REGISTERS_AARCH64_H
#define ISOSCOPE_PERF_REGISTERS_AARCH64_H

#include <asm/perf_regs.h>
#include <stdint.h>
#include <ucontext.h>

/* X0 to X29, LR, SP, PC. */
#define PERF_REGISTERS_MASK ((UINT64_C(1) << (PERF_REG_ARM64_PC + 1)) - 1)
enum { PERF_REGISTERS = PERF_REG_ARM64_PC + 1 };

static inline void perf_registers_take(const uint64_t values[PERF_REGISTERS], ucontext_t *out)
{
    for (int i = 0; i < 31; i++)
        out->uc_mcontext.regs[i] = values[i];
    out->uc_mcontext.sp = values[PERF_REG_ARM64_SP];
    out->uc_mcontext.pc = values[PERF_REG_ARM64_PC];
}

#endif
