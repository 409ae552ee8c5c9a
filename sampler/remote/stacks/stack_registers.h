/*
 * stack_registers.h - a thread's registers of user mode, by libunwind's numbers: one file for each processor.
 *
 * Source     libunwind-x86_64.h, libunwind-aarch64.h: the enums of registers.
 */
#ifndef ISOSCOPE_STACK_REGISTERS_H
#define ISOSCOPE_STACK_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>
#include <ucontext.h>

#if defined(__x86_64__)
#include "stack_registers_x86_64.h"
#elif defined(__aarch64__)
#include "stack_registers_aarch64.h"
#endif

struct stack_registers {
    uint64_t value[STACK_REGISTERS];
    uint64_t known;          /* 1 << number */
    uint64_t thread_pointer; /* where its thread-local memory is; 0: not known */
    long call;               /* of the system call that it is in; -1: none */
    uint64_t arguments[6];
};

static inline uint64_t stack_register_bit(int number)
{
    return UINT64_C(1) << number;
}

static inline bool stack_registers_know(const struct stack_registers *registers, int number)
{
    return registers->known & stack_register_bit(number);
}

/* All that is known but for the call. */
static inline struct stack_registers stack_registers_few(uint64_t pc, uint64_t sp)
{
    struct stack_registers out = { .known =
                                       stack_register_bit(STACK_PC) | stack_register_bit(STACK_SP),
                                   .call = -1 };

    out.value[STACK_PC] = pc;
    out.value[STACK_SP] = sp;
    return out;
}

static inline void stack_registers_put(struct stack_registers *registers, int number,
                                       uint64_t value)
{
    registers->value[number] = value;
    registers->known |= stack_register_bit(number);
}

#endif
