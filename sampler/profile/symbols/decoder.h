/*
 * decoder.h - machine code as text, one instruction after the other: capstone's work.
 *
 * x86-64 is written as Intel does. Bytes that are no instruction are ".byte".
 *
 * Units      offset: an ELF virtual address of the module.
 * Threads    A decoder: one at a time.
 * Errors     The bytes may be anything. decoder_new gives NULL and a reason, in static memory.
 */
#ifndef ISOSCOPE_DECODER_H
#define ISOSCOPE_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INSTRUCTION_BYTES_MAX = 16 };
#define INSTRUCTION_NO_TARGET UINT64_MAX

struct decoder;

struct instruction {
    uint64_t offset;
    uint8_t bytes[INSTRUCTION_BYTES_MAX];
    uint8_t size;
    char mnemonic[32];
    char operands[160];
    uint64_t target; /* where it jumps to or what it calls; INSTRUCTION_NO_TARGET: nowhere, or the
                        code does not say */
};

/* machine: EM_X86_64 or EM_AARCH64. */
struct decoder *decoder_new(uint16_t machine, const char **reason);
void decoder_free(struct decoder *decoder); /* NULL is fine */

/* What the code is at, and how much of it is left. */
struct code_cursor {
    const uint8_t *bytes;
    size_t count;
    uint64_t offset;
};

/* Goes behind the instruction at the cursor. False: there is none any more. */
bool decoder_next(struct decoder *decoder, struct code_cursor *cursor, struct instruction *out);

#endif
