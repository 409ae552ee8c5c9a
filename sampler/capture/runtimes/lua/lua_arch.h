/*
 * lua_arch.h - where luaV_execute keeps what it runs, as compilers of Debian 12 place it: registers.
 *
 * For lua.c alone. On aarch64 nobody has looked yet: a leaf's own frame is not told there.
 *
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_LUA_ARCH_H
#define ISOSCOPE_LUA_ARCH_H

#include "../../../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct lua_registers {
    uint64_t argument; /* the lua_State, at its first instruction */
    uint64_t state;    /* ... and later on */
    uint64_t call;     /* the CallInfo */
    uint64_t
        instruction; /* the next one. What it calls without storing that leaves the register as it is */
};

/* False: this processor's are not known. */
SIGNAL_SAFE_INLINE bool lua_registers_of(const ucontext_t *context, struct lua_registers *out)
{
#if defined(__x86_64__)
    const greg_t *registers = context->uc_mcontext.gregs;

    *out = (struct lua_registers){ (uint64_t)registers[REG_RDI], (uint64_t)registers[REG_R15],
                                   (uint64_t)registers[REG_RBP], (uint64_t)registers[REG_R13] };
    return true;
#else
    (void)context;
    *out = (struct lua_registers){ 0 };
    return false;
#endif
}

#endif
