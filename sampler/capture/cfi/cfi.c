#include "cfi.h"

#include "cfi_cursor.h"
#include "cfi_run.h"

#include <string.h>

/* One CIE or FDE: its body, and where its id field stands. */
struct record {
    struct cfi_cursor body;
    const uint8_t *id_at;
    uint32_t id;
};

SIGNAL_SAFE static bool record_at(const struct cfi_bytes *eh_frame, uint64_t offset,
                                  struct record *out, uint64_t *next)
{
    struct cfi_cursor cursor;
    uint64_t length;

    if (offset >= eh_frame->size)
        return false;
    cursor =
        (struct cfi_cursor){ eh_frame->bytes + offset, eh_frame->bytes + eh_frame->size, false };
    length = take_bytes(&cursor, 4);
    if (length == 0xffffffff)
        length = take_bytes(&cursor, 8);
    if (cursor.bad || length < 4 || length > (uint64_t)(cursor.end - cursor.at))
        return false;
    *next = (uint64_t)(cursor.at - eh_frame->bytes) + length;
    out->body = (struct cfi_cursor){ cursor.at, cursor.at + length, false };
    out->id_at = cursor.at;
    out->id = (uint32_t)take_bytes(&out->body, 4);
    return true;
}

bool cfi_next_record(const struct cfi_bytes *eh_frame, uint64_t *offset)
{
    struct record record;

    return record_at(eh_frame, *offset, &record, offset);
}

struct cie {
    struct cfi_cursor instructions;
    uint64_t code_align;
    int64_t data_align;
    uint8_t pointer_encoding;
    bool has_augmentation, signal_frame;
};

SIGNAL_SAFE static void read_augmentation(struct cfi_cursor *cursor, const char *letters,
                                          struct cie *out)
{
    for (const char *letter = letters; *letter; letter++) {
        switch (*letter) {
        case 'R':
            out->pointer_encoding = (uint8_t)take_bytes(cursor, 1);
            break;
        case 'L':
            take_bytes(cursor, 1);
            break;
        case 'P': {
            uint8_t encoding = (uint8_t)take_bytes(cursor, 1);

            take_value(cursor, encoding & 0x0f);
            break;
        }
        case 'S':
            out->signal_frame = true;
            break;
        case 'B':
            break; /* aarch64: signed with the B key */
        default:
            return; /* unknown letters may have operands: the rest is skipped as a whole */
        }
    }
}

SIGNAL_SAFE static bool cie_at(const struct cfi_bytes *eh_frame, uint64_t offset, struct cie *out)
{
    struct record record;
    struct cfi_cursor *body = &record.body;
    const char *letters;
    uint8_t version;
    uint64_t next;

    if (!record_at(eh_frame, offset, &record, &next) || record.id != 0)
        return false;
    *out = (struct cie){ .pointer_encoding = PE_ABSPTR };
    version = (uint8_t)take_bytes(body, 1);
    letters = (const char *)body->at;
    if (!memchr(letters, 0, (size_t)(body->end - body->at)))
        return false;
    skip(body, strlen(letters) + 1);
    if (version >= 4)
        skip(body, 2); /* address and segment selector sizes */
    out->code_align = take_uleb(body);
    out->data_align = take_sleb(body);
    if (version == 1)
        skip(body, 1);
    else
        take_uleb(body); /* the return address column: the ABI's, on what we know */
    if (letters[0] == 'z') {
        uint64_t bytes = take_uleb(body);
        struct cfi_cursor augmentation = { body->at, body->at, false };

        skip(body, bytes);
        augmentation.end = body->at;
        out->has_augmentation = true;
        read_augmentation(&augmentation, letters + 1, out);
    }
    out->instructions = *body;
    return !body->bad;
}

bool cfi_program_at(struct cfi_program *out, const struct cfi_bytes *eh_frame, uint64_t offset)
{
    struct record record;
    struct cfi_cursor *body = &record.body;
    struct cie cie;
    uint64_t next, cie_offset, length;

    if (!record_at(eh_frame, offset, &record, &next) || record.id == 0)
        return false;
    cie_offset = (uint64_t)(record.id_at - eh_frame->bytes) - record.id;
    if (!cie_at(eh_frame, cie_offset, &cie))
        return false;
    memset(out, 0, sizeof *out);
    out->bytes = eh_frame->bytes;
    out->vaddr_of_bytes = eh_frame->vaddr;
    out->start = take_pointer(body, cie.pointer_encoding,
                              eh_frame->vaddr + (uint64_t)(body->at - eh_frame->bytes), 0);
    length = take_value(body, cie.pointer_encoding & 0x0f);
    if (cie.has_augmentation)
        skip(body, take_uleb(body));
    if (body->bad || length == 0 || length > UINT32_MAX)
        return false;
    out->end = out->start + length;
    out->pc = out->start;
    out->signal_frame = cie.signal_frame;
    out->code_align = cie.code_align;
    out->data_align = cie.data_align;
    out->pointer_encoding = cie.pointer_encoding;
    out->at = cie.instructions.at;
    out->at_end = cie.instructions.end;
    out->fde_at = body->at;
    out->fde_at_end = body->end;
    out->rule = (struct cfi_rule){ .cfa = CFI_CFA_UNSUPPORTED, .fp = CFI_SAME, .ra = CFI_SAME };
    return true;
}

SIGNAL_SAFE static void end_of_cie(struct cfi_program *program)
{
    program->initial = program->rule;
    program->at = program->fde_at;
    program->at_end = program->fde_at_end;
    program->fde_at = NULL;
}

bool cfi_next_row(struct cfi_program *program, uint64_t *from, struct cfi_rule *rule)
{
    uint64_t row_start = program->pc, moved = 0;
    struct cfi_cursor cursor;

    if (program->pc >= program->end)
        return false;
    if (program->fde_at) {
        cursor = (struct cfi_cursor){ program->at, program->at_end, false };
        while (cursor.at < cursor.end && !cursor.bad)
            cfi_run_one(program, &cursor);
        end_of_cie(program);
    }
    cursor = (struct cfi_cursor){ program->at, program->at_end, false };
    while (cursor.at < cursor.end && !moved) {
        moved = cfi_run_one(program, &cursor);
        if (cursor.bad) /* what is not understood holds for the rest of the function */
            program->rule.cfa = CFI_CFA_UNSUPPORTED;
    }
    program->at = cursor.at;
    *from = row_start;
    *rule = program->rule;
    program->pc = moved ? row_start + moved : program->end;
    return true;
}
