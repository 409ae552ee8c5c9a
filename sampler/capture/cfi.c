#include "cfi.h"

#include <string.h>

/* Pointer encodings (Linux Standard Base 5.0, 10.5). */
enum {
    PE_ABSPTR = 0x00,
    PE_ULEB128 = 0x01,
    PE_UDATA2 = 0x02,
    PE_UDATA4 = 0x03,
    PE_UDATA8 = 0x04,
    PE_SLEB128 = 0x09,
    PE_SDATA2 = 0x0a,
    PE_SDATA4 = 0x0b,
    PE_SDATA8 = 0x0c,
    PE_PCREL = 0x10,
    PE_DATAREL = 0x30,
    PE_OMIT = 0xff,
};

/* Call frame instructions (DWARF 5, 7.24). The first three keep an operand in their low bits. */
enum {
    CFA_ADVANCE_LOC = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_GNU_WINDOW_SAVE = 0x2d, /* aarch64: toggles return address signing; no operand */
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

/* Expression operators that occur in real unwind data. */
enum {
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_AND = 0x1a,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_GE = 0x2a,
    OP_LIT0 = 0x30,
    OP_BREG0 = 0x70,
};

/* Reads from [at, end); past the end it stays there and gives zeros, and bad is set. */
struct cursor {
    const uint8_t *at, *end;
    bool bad;
};

SIGNAL_SAFE static uint64_t take_bytes(struct cursor *cursor, unsigned bytes)
{
    uint64_t value = 0;

    if ((uint64_t)(cursor->end - cursor->at) < bytes) {
        cursor->bad = true;
        cursor->at = cursor->end;
        return 0;
    }
    memcpy(&value, cursor->at, bytes);
    cursor->at += bytes;
    return value;
}

SIGNAL_SAFE static uint64_t take_uleb(struct cursor *cursor)
{
    uint64_t value = 0;

    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = (uint8_t)take_bytes(cursor, 1);

        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
}

SIGNAL_SAFE static int64_t take_sleb(struct cursor *cursor)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = (uint8_t)take_bytes(cursor, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (shift < 64 && (byte & 0x40))
        value |= ~UINT64_C(0) << shift;
    return (int64_t)value;
}

SIGNAL_SAFE static uint64_t take_value(struct cursor *cursor, uint8_t format)
{
    switch (format) {
    case PE_ULEB128:
        return take_uleb(cursor);
    case PE_SLEB128:
        return (uint64_t)take_sleb(cursor);
    case PE_UDATA2:
        return take_bytes(cursor, 2);
    case PE_SDATA2:
        return (uint64_t)(int16_t)take_bytes(cursor, 2);
    case PE_UDATA4:
        return take_bytes(cursor, 4);
    case PE_SDATA4:
        return (uint64_t)(int32_t)take_bytes(cursor, 4);
    case PE_ABSPTR:
    case PE_UDATA8:
    case PE_SDATA8:
        return take_bytes(cursor, 8);
    default:
        cursor->bad = true;
        return 0;
    }
}

/* vaddr_here: of the cursor's place; data_base: what PE_DATAREL is relative to. */
SIGNAL_SAFE static uint64_t take_pointer(struct cursor *cursor, uint8_t encoding,
                                         uint64_t vaddr_here, uint64_t data_base)
{
    uint64_t value = take_value(cursor, encoding & 0x0f);

    switch (encoding & 0x70) {
    case 0:
        return value;
    case PE_PCREL:
        return value + vaddr_here;
    case PE_DATAREL:
        return value + data_base;
    default:
        cursor->bad = true;
        return 0;
    }
}

SIGNAL_SAFE static void skip(struct cursor *cursor, uint64_t bytes)
{
    if ((uint64_t)(cursor->end - cursor->at) < bytes) {
        cursor->bad = true;
        cursor->at = cursor->end;
        return;
    }
    cursor->at += bytes;
}

/* One CIE or FDE: its body, and where its id field stands. */
struct record {
    struct cursor body;
    const uint8_t *id_at;
    uint32_t id;
};

SIGNAL_SAFE static bool record_at(const struct cfi_bytes *eh_frame, uint64_t offset,
                                  struct record *out, uint64_t *next)
{
    struct cursor cursor = { eh_frame->bytes + offset, eh_frame->bytes + eh_frame->size, false };
    uint64_t length;

    if (offset >= eh_frame->size)
        return false;
    length = take_bytes(&cursor, 4);
    if (length == 0xffffffff)
        length = take_bytes(&cursor, 8);
    if (cursor.bad || length < 4 || length > (uint64_t)(cursor.end - cursor.at))
        return false;
    *next = (uint64_t)(cursor.at - eh_frame->bytes) + length;
    out->body = (struct cursor){ cursor.at, cursor.at + length, false };
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
    struct cursor instructions;
    uint64_t code_align;
    int64_t data_align;
    uint8_t pointer_encoding;
    bool has_augmentation, signal_frame;
};

SIGNAL_SAFE static void read_augmentation(struct cursor *cursor, const char *letters,
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
    struct cursor *body = &record.body;
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
        struct cursor augmentation = { body->at, body->at, false };

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
    struct cursor *body = &record.body;
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

/* breg N(offset) [deref [plus_uconst M]]; or the PLT's: breg7(8) breg16(0) lit15 and litN ge lit3
 * shl plus */
SIGNAL_SAFE static void cfa_from_expression(struct cfi_rule *rule, const uint8_t *bytes,
                                            uint64_t size)
{
    struct cursor cursor = { bytes, bytes + size, false };
    uint8_t op = (uint8_t)take_bytes(&cursor, 1);
    static const uint8_t plt_middle[] = { OP_LIT0 + 15, OP_AND };
    static const uint8_t plt_tail[] = { OP_GE, OP_LIT0 + 3, OP_SHL, OP_PLUS };

    rule->cfa = CFI_CFA_UNSUPPORTED;
    if (op < OP_BREG0 || op > OP_BREG0 + 31)
        return;
    rule->cfa_reg = op - OP_BREG0;
    rule->cfa_offset = (int32_t)take_sleb(&cursor);
    rule->cfa_add = 0;
    if (cursor.at == cursor.end) {
        rule->cfa = CFI_CFA_REG;
        return;
    }
    op = (uint8_t)take_bytes(&cursor, 1);
    if (op == OP_DEREF) {
        if (cursor.at != cursor.end) {
            if (take_bytes(&cursor, 1) != OP_PLUS_UCONST)
                return;
            rule->cfa_add = (int32_t)take_uleb(&cursor);
        }
        rule->cfa = cursor.at == cursor.end && !cursor.bad ? CFI_CFA_DEREF : CFI_CFA_UNSUPPORTED;
    } else if (op == OP_BREG0 + ARCH_RA % 32 && ARCH_RA == 16) {
        if (take_sleb(&cursor) != 0 || cursor.end - cursor.at != 7 ||
            memcmp(cursor.at, plt_middle, 2) || memcmp(cursor.at + 3, plt_tail, 4))
            return;
        rule->cfa_add = cursor.at[2] - OP_LIT0;
        rule->cfa = CFI_CFA_PLT;
    }
}

/* DW_CFA_expression for a saved register: only breg N(offset). */
SIGNAL_SAFE static void place_from_expression(uint8_t *place, uint8_t *reg, int32_t *offset,
                                              const uint8_t *bytes, uint64_t size)
{
    struct cursor cursor = { bytes, bytes + size, false };
    uint8_t op = (uint8_t)take_bytes(&cursor, 1);

    *place = CFI_UNSUPPORTED;
    if (op < OP_BREG0 || op > OP_BREG0 + 31)
        return;
    *reg = op - OP_BREG0;
    *offset = (int32_t)take_sleb(&cursor);
    if (!cursor.bad && cursor.at == cursor.end)
        *place = CFI_AT_REG;
}

SIGNAL_SAFE static void set_place(struct cfi_rule *rule, uint64_t reg, uint8_t place,
                                  int64_t offset)
{
    if (reg == ARCH_FP) {
        rule->fp = place;
        rule->fp_offset = (int32_t)offset;
    } else if (reg == ARCH_RA) {
        rule->ra = place;
        rule->ra_offset = (int32_t)offset;
    }
}

SIGNAL_SAFE static void restore_place(struct cfi_rule *rule, const struct cfi_rule *initial,
                                      uint64_t reg)
{
    if (reg == ARCH_FP) {
        rule->fp = initial->fp;
        rule->fp_reg = initial->fp_reg;
        rule->fp_offset = initial->fp_offset;
    } else if (reg == ARCH_RA) {
        rule->ra = initial->ra;
        rule->ra_offset = initial->ra_offset;
    }
}

SIGNAL_SAFE static void take_expression_place(struct cursor *cursor, struct cfi_rule *rule)
{
    uint64_t reg = take_uleb(cursor);
    uint64_t size = take_uleb(cursor);
    const uint8_t *bytes = cursor->at;

    skip(cursor, size);
    if (cursor->bad)
        return;
    if (reg == ARCH_FP)
        place_from_expression(&rule->fp, &rule->fp_reg, &rule->fp_offset, bytes, size);
    else
        set_place(rule, reg, CFI_UNSUPPORTED, 0);
}

SIGNAL_SAFE static void define_cfa(struct cfi_rule *rule, uint64_t reg, int64_t offset)
{
    rule->cfa = reg < ARCH_REGS ? CFI_CFA_REG : CFI_CFA_UNSUPPORTED;
    rule->cfa_reg = (uint8_t)reg;
    rule->cfa_offset = (int32_t)offset;
}

/* Instructions that define the CFA. false: it is another one. */
SIGNAL_SAFE static bool run_cfa(struct cfi_program *program, struct cursor *cursor, uint8_t op)
{
    struct cfi_rule *rule = &program->rule;
    uint64_t reg, size;
    const uint8_t *bytes;

    switch (op) {
    case CFA_DEF_CFA:
        reg = take_uleb(cursor);
        define_cfa(rule, reg, (int64_t)take_uleb(cursor));
        return true;
    case CFA_DEF_CFA_SF:
        reg = take_uleb(cursor);
        define_cfa(rule, reg, take_sleb(cursor) * program->data_align);
        return true;
    case CFA_DEF_CFA_REGISTER:
        define_cfa(rule, take_uleb(cursor), rule->cfa_offset);
        return true;
    case CFA_DEF_CFA_OFFSET:
        rule->cfa_offset = (int32_t)take_uleb(cursor);
        return true;
    case CFA_DEF_CFA_OFFSET_SF:
        rule->cfa_offset = (int32_t)(take_sleb(cursor) * program->data_align);
        return true;
    case CFA_DEF_CFA_EXPRESSION:
        size = take_uleb(cursor);
        bytes = cursor->at;
        skip(cursor, size);
        if (!cursor->bad)
            cfa_from_expression(rule, bytes, size);
        return true;
    default:
        return false;
    }
}

/* Instructions that say where a register is. false: it is another one. */
SIGNAL_SAFE static bool run_place(struct cfi_program *program, struct cursor *cursor, uint8_t op)
{
    struct cfi_rule *rule = &program->rule;
    uint64_t reg;

    switch (op) {
    case CFA_OFFSET_EXTENDED:
        reg = take_uleb(cursor);
        set_place(rule, reg, CFI_AT_CFA, (int64_t)take_uleb(cursor) * program->data_align);
        return true;
    case CFA_OFFSET_EXTENDED_SF:
        reg = take_uleb(cursor);
        set_place(rule, reg, CFI_AT_CFA, take_sleb(cursor) * program->data_align);
        return true;
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        reg = take_uleb(cursor);
        set_place(rule, reg, CFI_AT_CFA, -(int64_t)take_uleb(cursor) * program->data_align);
        return true;
    case CFA_RESTORE_EXTENDED:
        restore_place(rule, &program->initial, take_uleb(cursor));
        return true;
    case CFA_UNDEFINED:
        set_place(rule, take_uleb(cursor), CFI_UNDEFINED, 0);
        return true;
    case CFA_SAME_VALUE:
        set_place(rule, take_uleb(cursor), CFI_SAME, 0);
        return true;
    case CFA_REGISTER:
    case CFA_VAL_OFFSET:
    case CFA_VAL_OFFSET_SF:
        set_place(rule, take_uleb(cursor), CFI_UNSUPPORTED, 0);
        take_uleb(cursor); /* signed or not, it has the same length */
        return true;
    case CFA_EXPRESSION:
        take_expression_place(cursor, rule);
        return true;
    case CFA_VAL_EXPRESSION:
        set_place(rule, take_uleb(cursor), CFI_UNSUPPORTED, 0);
        skip(cursor, take_uleb(cursor));
        return true;
    default:
        return false;
    }
}

SIGNAL_SAFE static void remember(struct cfi_program *program)
{
    if (program->remember_count < CFI_REMEMBER_MAX)
        program->remembered[program->remember_count] = program->rule;
    program->remember_count++;
}

SIGNAL_SAFE static void recall(struct cfi_program *program)
{
    if (program->remember_count <= 0)
        return;
    program->remember_count--;
    if (program->remember_count < CFI_REMEMBER_MAX)
        program->rule = program->remembered[program->remember_count];
    else
        program->rule.cfa = CFI_CFA_UNSUPPORTED;
}

/* Runs one instruction. Returns how far it moves the pc; *bad when it cannot be known what follows.
 */
SIGNAL_SAFE static uint64_t run_one(struct cfi_program *program, struct cursor *cursor)
{
    uint8_t op = (uint8_t)take_bytes(cursor, 1);
    uint8_t operand = op & 0x3f;

    switch (op & 0xc0) {
    case CFA_ADVANCE_LOC:
        return operand * program->code_align;
    case CFA_OFFSET:
        set_place(&program->rule, operand, CFI_AT_CFA,
                  (int64_t)take_uleb(cursor) * program->data_align);
        return 0;
    case CFA_RESTORE:
        restore_place(&program->rule, &program->initial, operand);
        return 0;
    }
    if (run_cfa(program, cursor, op) || run_place(program, cursor, op))
        return 0;
    switch (op) {
    case CFA_NOP:
    case CFA_GNU_WINDOW_SAVE:
        return 0;
    case CFA_ADVANCE_LOC1:
        return take_bytes(cursor, 1) * program->code_align;
    case CFA_ADVANCE_LOC2:
        return take_bytes(cursor, 2) * program->code_align;
    case CFA_ADVANCE_LOC4:
        return take_bytes(cursor, 4) * program->code_align;
    case CFA_SET_LOC: {
        uint64_t here = program->vaddr_of_bytes + (uint64_t)(cursor->at - program->bytes);

        return take_pointer(cursor, program->pointer_encoding, here, 0) - program->pc;
    }
    case CFA_REMEMBER_STATE:
        remember(program);
        return 0;
    case CFA_RESTORE_STATE:
        recall(program);
        return 0;
    case CFA_GNU_ARGS_SIZE:
        take_uleb(cursor);
        return 0;
    default:
        cursor->bad = true;
        return 0;
    }
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
    struct cursor cursor;

    if (program->pc >= program->end)
        return false;
    if (program->fde_at) {
        cursor = (struct cursor){ program->at, program->at_end, false };
        while (cursor.at < cursor.end && !cursor.bad)
            run_one(program, &cursor);
        end_of_cie(program);
    }
    cursor = (struct cursor){ program->at, program->at_end, false };
    while (cursor.at < cursor.end && !moved) {
        moved = run_one(program, &cursor);
        if (cursor.bad) /* what is not understood holds for the rest of the function */
            program->rule.cfa = CFI_CFA_UNSUPPORTED;
    }
    program->at = cursor.at;
    *from = row_start;
    *rule = program->rule;
    program->pc = moved ? row_start + moved : program->end;
    return true;
}

bool cfi_header_read(struct cfi_header *out, const struct cfi_bytes *header)
{
    struct cursor cursor = { header->bytes, header->bytes + header->size, false };
    uint8_t frame_encoding, count_encoding, table_encoding;
    uint64_t version = take_bytes(&cursor, 1);

    frame_encoding = (uint8_t)take_bytes(&cursor, 1);
    count_encoding = (uint8_t)take_bytes(&cursor, 1);
    table_encoding = (uint8_t)take_bytes(&cursor, 1);
    if (cursor.bad || version != 1 || frame_encoding == PE_OMIT)
        return false;
    *out = (struct cfi_header){ .header_vaddr = header->vaddr };
    out->eh_frame_vaddr =
        take_pointer(&cursor, frame_encoding, header->vaddr + (uint64_t)(cursor.at - header->bytes),
                     header->vaddr);
    if (cursor.bad)
        return false;
    /* Every linker writes the table so; another form is read without it. */
    if (count_encoding == PE_OMIT || table_encoding != (PE_DATAREL | PE_SDATA4))
        return true;
    out->fde_count = take_value(&cursor, count_encoding & 0x0f);
    out->table = cursor.at;
    if (cursor.bad || out->fde_count > (uint64_t)(cursor.end - cursor.at) / 8)
        out->fde_count = 0;
    return true;
}

uint64_t cfi_header_fde_vaddr(const struct cfi_header *header, uint64_t index)
{
    int32_t relative;

    memcpy(&relative, header->table + index * 8 + 4, sizeof relative);
    return header->header_vaddr + (uint64_t)(int64_t)relative;
}

SIGNAL_SAFE static uint64_t function_vaddr(const struct cfi_header *header, uint64_t index)
{
    int32_t relative;

    memcpy(&relative, header->table + index * 8, sizeof relative);
    return header->header_vaddr + (uint64_t)(int64_t)relative;
}

bool cfi_header_find(const struct cfi_header *header, uint64_t vaddr, uint64_t *fde_vaddr)
{
    uint64_t low = 0, high = header->fde_count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (function_vaddr(header, middle) <= vaddr)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    *fde_vaddr = cfi_header_fde_vaddr(header, low - 1);
    return true;
}
