#include "unit_shape.h"

#include <dwarf.h>

enum { VERSION_MIN = 2, VERSION_MAX = 5, FORMS_DEEP = 8 };

/* From version 5 on a header says what kind of unit it is. */
static void read_kind(struct cursor *cursor, struct unit_header *header)
{
    uint8_t kind = cursor_u8(cursor);

    header->shape.address_bytes = cursor_u8(cursor);
    header->abbrevs = cursor_number(cursor, header->shape.offset_bytes);
    header->types = kind == DW_UT_type || kind == DW_UT_split_type;
    if (kind == DW_UT_skeleton || kind == DW_UT_split_compile)
        cursor_skip(cursor, 8); /* the id that holds the two halves together */
}

bool unit_header_read(struct bytes info, uint64_t *place, struct unit_header *out)
{
    struct cursor cursor = cursor_of(info, *place);
    struct unit_header header = { .start = *place };
    uint64_t length;
    bool wide;

    if (cursor.failed || !cursor_left(&cursor))
        return false;
    length = cursor_length(&cursor, &wide);
    if (cursor.failed || length > cursor_left(&cursor))
        return false;
    header.end = (uint64_t)(cursor.at - info.at) + length;
    header.shape.offset_bytes = wide ? 8 : 4;
    header.shape.version = (uint8_t)cursor_number(&cursor, 2);
    if (header.shape.version >= 5) {
        read_kind(&cursor, &header);
    } else {
        header.abbrevs = cursor_number(&cursor, header.shape.offset_bytes);
        header.shape.address_bytes = cursor_u8(&cursor);
    }
    header.die = (uint64_t)(cursor.at - info.at);
    if (cursor.failed || header.die > header.end || header.shape.version < VERSION_MIN ||
        header.shape.version > VERSION_MAX || header.shape.address_bytes != 8)
        return false;
    *place = header.end;
    *out = header;
    return true;
}

int form_bytes(uint64_t form, const struct unit_shape *shape)
{
    switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
        return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
        return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
        return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sup8:
    case DW_FORM_ref_sig8:
        return 8;
    case DW_FORM_data16:
        return 16;
    case DW_FORM_addr:
        return shape->address_bytes;
    case DW_FORM_ref_addr:
        return shape->version == 2 ? shape->address_bytes : shape->offset_bytes;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
        return shape->offset_bytes;
    default:
        return FORM_BYTES_VARY;
    }
}

void form_skip(struct cursor *cursor, uint64_t form, const struct unit_shape *shape)
{
    for (int deep = 0; form == DW_FORM_indirect && deep < FORMS_DEEP; deep++)
        form = cursor_uleb(cursor);
    switch (form) {
    case DW_FORM_sdata:
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
        cursor_uleb(cursor);
        break;
    case DW_FORM_string:
        cursor_text(cursor);
        break;
    case DW_FORM_block1:
        cursor_skip(cursor, cursor_number(cursor, 1));
        break;
    case DW_FORM_block2:
        cursor_skip(cursor, cursor_number(cursor, 2));
        break;
    case DW_FORM_block4:
        cursor_skip(cursor, cursor_number(cursor, 4));
        break;
    case DW_FORM_block:
    case DW_FORM_exprloc:
        cursor_skip(cursor, cursor_uleb(cursor));
        break;
    default:
        if (form_bytes(form, shape) == FORM_BYTES_VARY)
            cursor_fail(cursor);
        else
            cursor_skip(cursor, (uint64_t)form_bytes(form, shape));
    }
}

bool form_number(struct cursor *cursor, uint64_t form, const struct unit_shape *shape,
                 uint64_t *out)
{
    switch (form) {
    case DW_FORM_data1:
    case DW_FORM_data2:
    case DW_FORM_data4:
    case DW_FORM_data8:
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
    case DW_FORM_ref_addr:
    case DW_FORM_addr:
    case DW_FORM_sec_offset:
    case DW_FORM_GNU_ref_alt:
        *out = cursor_number(cursor, (uint32_t)form_bytes(form, shape));
        return true;
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
        *out = cursor_uleb(cursor);
        return true;
    case DW_FORM_sdata:
        *out = (uint64_t)cursor_sleb(cursor);
        return true;
    default:
        form_skip(cursor, form, shape);
        return false;
    }
}
