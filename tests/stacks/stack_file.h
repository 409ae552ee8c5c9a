/*
 * stack_file.h - a recorded stack: registers, stack bytes and unwind data, and what they must give.
 *
 *     head | unwind data: .eh_frame_hdr, then .eh_frame | stack bytes | expected frames, leaf first
 *
 * More stacks of the same program may follow in the file, without unwind data: theirs is the
 * first's.
 *
 * One statically linked program, one module: everything lies at fixed addresses. The expected
 * frames are those of the compiler's own unwinder (backtrace), which was in the same place.
 *
 * Units      Addresses are runtime ones; the program is not position independent, so vaddrs too.
 */
#ifndef STACK_FILE_H
#define STACK_FILE_H

#include <stdint.h>

/* In an expected frame: a signal interrupted it, so it is the instruction itself, no return
 * address. */
#define STACK_FILE_EXACT (UINT64_C(1) << 63)
#define STACK_FILE_MAGIC UINT64_C(0x316b636174536f73) /* "soStack1" */

enum { STACK_FILE_REGISTERS = 32, STACK_FILE_FRAMES_MAX = 128, STACK_FILE_STACK_MAX = 64 * 1024 };

struct stack_file {
    uint64_t magic;
    uint32_t machine; /* ELF e_machine */
    uint32_t frame_count;
    uint64_t pc;
    uint64_t registers[STACK_FILE_REGISTERS]; /* by DWARF number */
    uint64_t code_start, code_end;
    uint64_t header_address, header_bytes;
    uint64_t eh_frame_address, eh_frame_bytes;
    uint64_t stack_address, stack_bytes;
};

#endif
