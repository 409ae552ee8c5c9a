/*
 * plt_stub.h - what stubs look like on each processor: plt_x86_64.c and plt_aarch64.c mirror each
 * other. Both are always there, for a profile may be of another machine.
 */
#ifndef ISOSCOPE_PLT_STUB_H
#define ISOSCOPE_PLT_STUB_H

#include <stdbool.h>
#include <stdint.h>

struct plt_stub {
    uint64_t start;
    bool by_slot;    /* else: it does not say where it jumps, only its number */
    uint64_t target; /* the slot's address, or the place of its relocation in .rela.plt */
};

/* Stubs begin at multiples of a step; one ends where the next begins, or when it is full long. */
enum {
    PLT_X86_64_STEP = 8,
    PLT_X86_64_BYTES = 16,
    PLT_AARCH64_STEP = 4,
    PLT_AARCH64_BYTES = 24,
};

/* Is there a stub at the address, in the bytes of its section that are left? */
typedef bool plt_stub_decoder(const uint8_t *code, uint64_t bytes, uint64_t address,
                              struct plt_stub *out);
plt_stub_decoder plt_x86_64_stub, plt_aarch64_stub;

#endif
