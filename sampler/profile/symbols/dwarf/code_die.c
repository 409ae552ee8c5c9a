#include "code_die.h"

#include <dwarf.h>

#define IN_ANOTHER_FILE (UINT64_C(1) << 63)

struct reader {
    struct cursor *cursor;
    const struct unit_header *unit;
};

static void read_low(struct reader *reader, uint16_t form, struct code_die *out)
{
    out->has_low = form == DW_FORM_addr;
    out->intricate |= !out->has_low;
    if (!form_number(reader->cursor, form, &reader->unit->shape, &out->low))
        out->has_low = false;
}

static void read_high(struct reader *reader, const struct abbrev_attr *attr, struct code_die *out)
{
    out->has_high = out->high_is_size = true;
    if (attr->form == DW_FORM_implicit_const)
        out->high = (uint64_t)attr->constant;
    else if (!form_number(reader->cursor, attr->form, &reader->unit->shape, &out->high))
        out->intricate = true;
    else
        out->high_is_size = attr->form != DW_FORM_addr;
}

static void read_origin(struct reader *reader, uint16_t form, struct code_die *out)
{
    uint64_t place;

    if (!form_number(reader->cursor, form, &reader->unit->shape, &place))
        return;
    if (form == DW_FORM_ref_addr)
        out->origin = place;
    else if (form == DW_FORM_GNU_ref_alt)
        out->origin = place | IN_ANOTHER_FILE;
    else
        out->origin = reader->unit->start + place;
}

static void read_number(struct reader *reader, const struct abbrev_attr *attr, uint32_t *out)
{
    uint64_t number;

    if (attr->form == DW_FORM_implicit_const)
        *out = (uint32_t)attr->constant;
    else if (form_number(reader->cursor, attr->form, &reader->unit->shape, &number))
        *out = (uint32_t)number;
}

static void read_attr(struct reader *reader, const struct abbrev_attr *attr, struct code_die *out)
{
    switch (attr->name) {
    case DW_AT_low_pc:
        read_low(reader, attr->form, out);
        break;
    case DW_AT_high_pc:
        read_high(reader, attr, out);
        break;
    case DW_AT_ranges:
        out->intricate = true;
        attr_skip(reader->cursor, attr, &reader->unit->shape);
        break;
    case DW_AT_abstract_origin:
        read_origin(reader, attr->form, out);
        break;
    case DW_AT_call_file:
        read_number(reader, attr, &out->call_file);
        break;
    case DW_AT_call_line:
        read_number(reader, attr, &out->call_line);
        break;
    default:
        attr_skip(reader->cursor, attr, &reader->unit->shape);
    }
}

void code_die_read(struct code_die *out, struct cursor *cursor, const struct unit_header *unit,
                   const struct abbrevs *abbrevs, const struct abbrev *abbrev)
{
    struct reader reader = { cursor, unit };

    for (uint32_t i = 0; i < abbrev->count; i++)
        read_attr(&reader, &abbrevs->attrs[abbrev->first + i], out);
}
