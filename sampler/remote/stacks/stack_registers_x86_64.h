/*
 * stack_registers_x86_64.h - see stack_registers.h.
 */
#ifndef ISOSCOPE_STACK_REGISTERS_X86_64_H
#define ISOSCOPE_STACK_REGISTERS_X86_64_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>
#include <ucontext.h>

enum { STACK_REGISTERS = 17, STACK_FP = 6, STACK_SP = 7, STACK_PC = 16, STACK_RED_ZONE = 128 };

static inline void stack_registers_take(const struct user_regs_struct *from,
                                        uint64_t value[STACK_REGISTERS], long *call,
                                        uint64_t arguments[6])
{
    const uint64_t all[STACK_REGISTERS] = { from->rax, from->rdx, from->rcx, from->rbx, from->rsi,
                                            from->rdi, from->rbp, from->rsp, from->r8,  from->r9,
                                            from->r10, from->r11, from->r12, from->r13, from->r14,
                                            from->r15, from->rip };
    const uint64_t six[6] = { from->rdi, from->rsi, from->rdx, from->r10, from->r8, from->r9 };

    for (int i = 0; i < STACK_REGISTERS; i++)
        value[i] = all[i];
    for (int i = 0; i < 6; i++)
        arguments[i] = six[i];
    *call = (long)from->orig_rax;
}

static inline uint64_t stack_registers_thread_pointer(const struct user_regs_struct *from)
{
    return from->fs_base;
}

static inline void stack_registers_context(const uint64_t value[STACK_REGISTERS], ucontext_t *out)
{
    static const int places[STACK_REGISTERS] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI,
                                                 REG_RDI, REG_RBP, REG_RSP, REG_R8,  REG_R9,
                                                 REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
                                                 REG_R15, REG_RIP };

    for (int i = 0; i < STACK_REGISTERS; i++)
        out->uc_mcontext.gregs[places[i]] = (greg_t)value[i];
}

enum { CALL_BYTES_MAX = 8 };

/* Whether these bytes end with a call: of an address (the byte 0xe8), or of what a register or memory has (0xff /2,
 * with up to 5 bytes behind it, and a prefix for r8 to r15). target: as known; else 0. Source: Intel's manual, volume 2,
 * "CALL". */
static inline bool call_ends(const uint8_t bytes[CALL_BYTES_MAX], uint64_t end, uint64_t *target)
{
    int32_t distance;

    *target = 0;
    if (bytes[CALL_BYTES_MAX - 5] == 0xe8) {
        __builtin_memcpy(&distance, bytes + CALL_BYTES_MAX - 4, sizeof(distance));
        *target = end + (uint64_t)(int64_t)distance;
        return true;
    }
    for (int length = 2; length <= 7; length++) {
        const uint8_t *at = bytes + CALL_BYTES_MAX - length;
        int mod = at[1] >> 6, has_sib = mod != 3 && (at[1] & 7) == 4;
        int more = mod == 1 ? 1 : mod == 2 || (mod == 0 && (at[1] & 7) == 5) ? 4 : 0;

        if (mod == 0 && has_sib && length > 2 && (at[2] & 7) == 5)
            more = 4;
        if (at[0] == 0xff && (at[1] >> 3 & 7) == 2 && length == 2 + has_sib + more)
            return true;
    }
    return false;
}

enum { CALLEE_BYTES = 16, LAST_BYTES = 16 };

/* Whether a function that begins with these bytes soon jumps (0xe9) to [first, last]. What only looks like a jump hardly ever leads to
 * so few of all addresses. */
static inline bool jumps_to(const uint8_t bytes[CALLEE_BYTES], uint64_t at, uint64_t first,
                            uint64_t last)
{
    for (uint64_t i = 0; i + 5 <= CALLEE_BYTES; i++) {
        int32_t distance;

        __builtin_memcpy(&distance, bytes + i + 1, sizeof(distance));
        if (bytes[i] == 0xe9 && at + i + 5 + (uint64_t)(int64_t)distance - first <= last - first)
            return true;
    }
    return false;
}

/* Whether what a call returns to ends the thread at once: the number of exit goes into eax or al, then a syscall. */
static inline bool code_ends_thread(const uint8_t bytes[LAST_BYTES])
{
    static const uint8_t whole[] = { 0xb8, 60, 0, 0, 0, 0x0f, 0x05 },
                         low[] = { 0xb0, 60, 0x0f, 0x05 };

    for (int i = 0; i <= LAST_BYTES - (int)sizeof(whole); i++)
        if (!__builtin_memcmp(bytes + i, whole, sizeof(whole)) ||
            !__builtin_memcmp(bytes + i, low, sizeof(low)))
            return true;
    return false;
}

#endif
