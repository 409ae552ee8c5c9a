#include "line_header.h"

enum { VERSION_MIN = 2, VERSION_MAX = 5 };

static void read_shape(struct line_header *header, struct cursor *cursor)
{
    header->shape.address_bytes = 8;
    if (header->shape.version >= 5) {
        header->shape.address_bytes = cursor_u8(cursor);
        cursor_skip(cursor, 1); /* of a segment selector */
    }
}

static void read_opcodes(struct line_header *header, struct cursor *cursor)
{
    header->instruction_bytes = cursor_u8(cursor);
    header->operations_max = header->shape.version >= 4 ? cursor_u8(cursor) : 1;
    cursor_skip(cursor, 1); /* is_stmt: a debugger's matter, where to stop */
    header->line_base = (int8_t)cursor_u8(cursor);
    header->line_range = cursor_u8(cursor);
    header->opcode_base = cursor_u8(cursor);
    header->operand_counts = cursor->at;
    cursor_skip(cursor, header->opcode_base ? header->opcode_base - 1U : 0);
}

bool line_header_read(struct line_header *out, struct bytes section, uint64_t place)
{
    struct cursor cursor = cursor_of(section, place), table;
    struct line_header header = { 0 };
    uint64_t length;
    bool wide;

    if (cursor.failed)
        return false;
    length = cursor_length(&cursor, &wide);
    table = cursor_take(&cursor, length);
    header.shape.offset_bytes = wide ? 8 : 4;
    header.shape.version = (uint8_t)cursor_number(&table, 2);
    if (table.failed || header.shape.version < VERSION_MIN || header.shape.version > VERSION_MAX)
        return false;
    read_shape(&header, &table);
    header.names = cursor_take(&table, cursor_number(&table, header.shape.offset_bytes));
    read_opcodes(&header, &header.names);
    header.program = table;
    if (table.failed || header.names.failed || !header.line_range || !header.opcode_base ||
        !header.operations_max)
        return false;
    *out = header;
    return true;
}
