/*
 * line_header.h - the beginning of a line table: how its program is to be read, and its files.
 *
 * Errors     line_header_read: false: there is no table that we can read.
 */
#ifndef ISOSCOPE_LINE_HEADER_H
#define ISOSCOPE_LINE_HEADER_H

#include "line_table.h"
#include "unit_shape.h"

struct line_header {
    struct unit_shape shape;
    uint8_t instruction_bytes; /* the least */
    uint8_t operations_max;    /* of one instruction */
    int8_t line_base;
    uint8_t line_range;
    uint8_t opcode_base;
    const uint8_t *operand_counts; /* of the opcodes from 1 to opcode_base - 1 */
    struct cursor names;           /* the tables of directories and files */
    struct cursor program;
};

bool line_header_read(struct line_header *out, struct bytes section, uint64_t place);

#endif
