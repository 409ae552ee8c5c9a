#include "line_table.h"

#include "../../../feed/cleanup.h"
#include "../../../include/isoscope/isoscope.h"
#include "../key_sort.h"
#include "../../base/grow.h"
#include "line_header.h"

#include <dwarf.h>

/* Every byte of a program can make a row, and a row has 24: some end has to be. */
enum { ROWS_MAX = 1 << 23 };

/* Where the program is. A sequence is code without a gap. */
struct machine {
    const struct line_header *header;
    struct line_rows *rows;
    uint32_t sequence; /* its first row */
    uint64_t address;
    uint64_t operation;
    uint64_t file, line;
};

void line_rows_free(struct line_rows *rows)
{
    free(rows->rows);
    *rows = (struct line_rows){ 0 };
}

static void start_sequence(struct machine *machine)
{
    machine->sequence = machine->rows->count;
    machine->address = machine->operation = 0;
    machine->file = machine->line = 1;
}

static int add_row(struct machine *machine, bool end)
{
    struct line_rows *rows = machine->rows;
    struct line_row row = { .start = machine->address,
                            .file = (uint32_t)machine->file,
                            .line = (uint32_t)machine->line,
                            .end = end };

    /* Of several rows for one address the last one is meant. */
    if (rows->count > machine->sequence && rows->rows[rows->count - 1].start == row.start)
        rows->count--;
    if (end && rows->count == machine->sequence)
        return 0; /* no code at all */
    if (rows->count == ROWS_MAX || !GROW(rows->rows, rows->count, rows->capacity))
        return -ISOSCOPE_NO_MEMORY;
    rows->rows[rows->count++] = row;
    return 0;
}

static void advance(struct machine *machine, uint64_t operations)
{
    const struct line_header *header = machine->header;
    uint64_t all = machine->operation + operations;

    machine->address += header->instruction_bytes * (all / header->operations_max);
    machine->operation = all % header->operations_max;
}

static int run_special(struct machine *machine, uint8_t opcode)
{
    const struct line_header *header = machine->header;
    uint8_t adjusted = (uint8_t)(opcode - header->opcode_base);

    advance(machine, adjusted / header->line_range);
    machine->line += (uint64_t)(int64_t)(header->line_base + adjusted % header->line_range);
    return add_row(machine, false);
}

static int run_extended(struct machine *machine, struct cursor *program)
{
    struct cursor operands = cursor_take(program, cursor_uleb(program));

    switch (cursor_u8(&operands)) {
    case DW_LNE_end_sequence:
        if (add_row(machine, true) < 0)
            return -ISOSCOPE_NO_MEMORY;
        start_sequence(machine);
        return 0;
    case DW_LNE_set_address:
        machine->address = cursor_number(&operands, 8);
        machine->operation = 0;
        return 0;
    default:
        return 0;
    }
}

static int run_standard(struct machine *machine, uint8_t opcode, struct cursor *program)
{
    const struct line_header *header = machine->header;

    switch (opcode) {
    case DW_LNS_copy:
        return add_row(machine, false);
    case DW_LNS_advance_pc:
        advance(machine, cursor_uleb(program));
        return 0;
    case DW_LNS_advance_line:
        machine->line += (uint64_t)cursor_sleb(program);
        return 0;
    case DW_LNS_set_file:
        machine->file = cursor_uleb(program);
        return 0;
    case DW_LNS_const_add_pc:
        advance(machine, (255U - header->opcode_base) / header->line_range);
        return 0;
    case DW_LNS_fixed_advance_pc:
        machine->address += cursor_number(program, 2);
        machine->operation = 0;
        return 0;
    default: /* also those that are not made yet */
        for (uint8_t i = 0; i < header->operand_counts[opcode - 1]; i++)
            cursor_uleb(program);
        return 0;
    }
}

static int run(struct machine *machine, struct cursor *program)
{
    uint8_t opcode = cursor_u8(program);

    if (opcode >= machine->header->opcode_base)
        return run_special(machine, opcode);
    if (opcode)
        return run_standard(machine, opcode, program);
    return run_extended(machine, program);
}

/* Of two rows for one address. */
static bool counts_more(const struct line_row *a, const struct line_row *b)
{
    if (a->end != b->end) /* where one sequence ends and another begins, code goes on */
        return b->end;
    return a->file != b->file ? a->file > b->file : a->line > b->line;
}

static bool same_line(const struct line_row *a, const struct line_row *b)
{
    return a->end == b->end && (a->end || (a->line == b->line && a->file == b->file));
}

/* Takes one row of each address, and none that says nothing new. order: by start. */
static void take_in_order(const struct line_rows *rows, const struct sort_key *order,
                          uint32_t count, struct line_rows *out)
{
    for (uint32_t i = 0; i < count; i++) {
        struct line_row row = rows->rows[order[i].number];

        for (; i + 1 < count && order[i + 1].key == row.start; i++)
            if (counts_more(&rows->rows[order[i + 1].number], &row))
                row = rows->rows[order[i + 1].number];
        if (!out->count || !same_line(&out->rows[out->count - 1], &row))
            out->rows[out->count++] = row;
    }
}

static void free_order(struct sort_key **order)
{
    free(*order);
}

/* The rows of code that is in the file, sorted. */
static int put_in_order(const struct line_rows *rows, const struct dwarf_file *file,
                        struct line_rows *out)
{
    CLEANUP(free_order)
    struct sort_key *order = reallocarray(NULL, (size_t)rows->count + 1, sizeof(*order));
    uint32_t count = 0;

    if (!order)
        return -ISOSCOPE_NO_MEMORY;
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->rows[i].start >= file->code_start && rows->rows[i].start <= file->code_end)
            order[count++] = (struct sort_key){ rows->rows[i].start, i };
    if (key_sort(order, count) < 0)
        return -ISOSCOPE_NO_MEMORY;
    out->rows = reallocarray(NULL, (size_t)count + 1, sizeof(*out->rows));
    if (!out->rows)
        return -ISOSCOPE_NO_MEMORY;
    out->capacity = count + 1;
    take_in_order(rows, order, count, out);
    return 0;
}

int line_rows_read(struct line_rows *out, const struct dwarf_file *file, uint64_t place)
{
    CLEANUP(line_rows_free) struct line_rows rows = { 0 };
    struct line_header header;
    struct machine machine = { .header = &header, .rows = &rows };

    if (!line_header_read(&header, file->sections.line, place))
        return 0;
    start_sequence(&machine);
    while (cursor_left(&header.program) && !header.program.failed && rows.count < ROWS_MAX)
        if (run(&machine, &header.program) < 0)
            return -ISOSCOPE_NO_MEMORY;
    return put_in_order(&rows, file, out);
}
