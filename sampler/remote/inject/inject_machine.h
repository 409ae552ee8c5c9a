/*
 * inject_machine.h - what injection must know of a processor: how a thread calls the kernel and functions, and how it gets its own
 * registers back without anybody's help.
 *
 * The help is the kernel's: a frame as a signal leaves it, which rt_sigreturn takes registers, vector registers and the signal mask
 * from. Whatever a held thread is made to do ends in one, so a tracer may die at any time.
 */
#ifndef ISOSCOPE_INJECT_MACHINE_H
#define ISOSCOPE_INJECT_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/user.h>

/* What a frame is made of. */
struct inject_context {
    struct user_regs_struct registers;
    uint64_t mask;          /* of signals */
    const uint8_t *vectors; /* as NT_X86_XSTATE and its like give them */
    size_t vectors_bytes;
};

#if defined(__x86_64__)
#include "inject_machine_x86_64.h"
#elif defined(__aarch64__)
#include "inject_machine_aarch64.h"
#else
#error "isoscope does not know this processor"
#endif

#endif
