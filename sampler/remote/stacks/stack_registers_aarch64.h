/*
 * stack_registers_aarch64.h - see stack_registers.h.
 */
#ifndef ISOSCOPE_STACK_REGISTERS_AARCH64_H
#define ISOSCOPE_STACK_REGISTERS_AARCH64_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>
#include <ucontext.h>

enum { STACK_REGISTERS = 33, STACK_FP = 29, STACK_SP = 31, STACK_PC = 32, STACK_RED_ZONE = 0 };

static inline void stack_registers_take(const struct user_regs_struct *from,
                                        uint64_t value[STACK_REGISTERS], long *call,
                                        uint64_t arguments[6])
{
    for (int i = 0; i < 31; i++)
        value[i] = from->regs[i];
    value[STACK_SP] = from->sp;
    value[STACK_PC] = from->pc;
    for (int i = 0; i < 6; i++)
        arguments[i] = from->regs[i];
    /* Whether it is in one is not among these registers; the task's syscall file says so. */
    *call = -1;
}

/* It is in another set of registers (NT_ARM_TLS). */
static inline uint64_t stack_registers_thread_pointer(const struct user_regs_struct *from)
{
    (void)from;
    return 0;
}

static inline void stack_registers_context(const uint64_t value[STACK_REGISTERS], ucontext_t *out)
{
    for (int i = 0; i < 31; i++)
        out->uc_mcontext.regs[i] = value[i];
    out->uc_mcontext.sp = value[STACK_SP];
    out->uc_mcontext.pc = value[STACK_PC];
}

enum { CALL_BYTES_MAX = 4 };

/* Whether these bytes are a call: BL, or BLR and its kin with a signed address. target: as known; else 0. Source: Arm's
 * Architecture Reference Manual, "BL", "BLR". */
static inline bool call_ends(const uint8_t bytes[CALL_BYTES_MAX], uint64_t end, uint64_t *target)
{
    uint32_t word;

    __builtin_memcpy(&word, bytes, sizeof(word));
    *target = 0;
    if ((word & 0xfc000000) == 0x94000000) {
        *target = end - 4 + (uint64_t)((int64_t)((uint64_t)(word & 0x03ffffff) << 38) >> 36);
        return true;
    }
    return (word & 0xfefff800) == 0xd63f0800 || (word & 0xfffffc1f) == 0xd63f0000;
}

enum { CALLEE_BYTES = 16, LAST_BYTES = 16 };

/* Whether a function that begins with these bytes soon jumps (B) to [first, last]. */
static inline bool jumps_to(const uint8_t bytes[CALLEE_BYTES], uint64_t at, uint64_t first,
                            uint64_t last)
{
    for (uint64_t i = 0; i < CALLEE_BYTES; i += 4) {
        uint32_t word;

        __builtin_memcpy(&word, bytes + i, sizeof(word));
        if ((word & 0xfc000000) == 0x14000000 &&
            at + i + (uint64_t)((int64_t)((uint64_t)(word & 0x03ffffff) << 38) >> 36) - first <=
                last - first)
            return true;
    }
    return false;
}

/* Whether what a call returns to ends the thread at once: the number of exit goes into x8 or w8, then SVC. */
static inline bool code_ends_thread(const uint8_t bytes[LAST_BYTES])
{
    uint32_t words[LAST_BYTES / 4];

    __builtin_memcpy(words, bytes, sizeof(words));
    for (int i = 0; i + 1 < LAST_BYTES / 4; i++)
        if ((words[i] == 0xd2800ba8 || words[i] == 0x52800ba8) && words[i + 1] == 0xd4000001)
            return true;
    return false;
}

#endif
