#include "cfi_run.h"

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

/* plus_uconst N, or litN plus. */
SIGNAL_SAFE static bool take_addend(struct cfi_cursor *cursor, int32_t *out)
{
    uint8_t op = (uint8_t)take_bytes(cursor, 1);

    if (op == OP_PLUS_UCONST) {
        *out = (int32_t)take_uleb(cursor);
        return true;
    }
    *out = op - OP_LIT0;
    return op >= OP_LIT0 && op <= OP_LIT0 + 31 && take_bytes(cursor, 1) == OP_PLUS;
}

/* breg N(offset) [deref [plus_uconst M | litM plus]]; or the PLT's: breg7(8) breg16(0) lit15 and
 * litN ge lit3 shl plus */
SIGNAL_SAFE static void cfa_from_expression(struct cfi_rule *rule, const uint8_t *bytes,
                                            uint64_t size)
{
    struct cfi_cursor cursor = { bytes, bytes + size, false };
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
        if (cursor.at != cursor.end && !take_addend(&cursor, &rule->cfa_add))
            return;
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
    struct cfi_cursor cursor = { bytes, bytes + size, false };
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
    } else if (reg == ARCH_THIRD) {
        rule->third = place;
        rule->third_offset = (int32_t)offset;
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
    } else if (reg == ARCH_THIRD) {
        rule->third = initial->third;
        rule->third_reg = initial->third_reg;
        rule->third_offset = initial->third_offset;
    }
}

SIGNAL_SAFE static void take_expression_place(struct cfi_cursor *cursor, struct cfi_rule *rule)
{
    uint64_t reg = take_uleb(cursor);
    uint64_t size = take_uleb(cursor);
    const uint8_t *bytes = cursor->at;

    skip(cursor, size);
    if (cursor->bad)
        return;
    if (reg == ARCH_FP)
        place_from_expression(&rule->fp, &rule->fp_reg, &rule->fp_offset, bytes, size);
    else if (reg == ARCH_THIRD)
        place_from_expression(&rule->third, &rule->third_reg, &rule->third_offset, bytes, size);
    else
        set_place(rule, reg, CFI_UNSUPPORTED, 0);
}

/* Any file's factor: it wraps. */
SIGNAL_SAFE static int64_t factored(const struct cfi_program *program, uint64_t offset)
{
    return (int64_t)(offset * (uint64_t)program->data_align);
}

SIGNAL_SAFE static void define_cfa(struct cfi_rule *rule, uint64_t reg, int64_t offset)
{
    rule->cfa = reg < ARCH_REGS ? CFI_CFA_REG : CFI_CFA_UNSUPPORTED;
    rule->cfa_reg = (uint8_t)reg;
    rule->cfa_offset = (int32_t)offset;
}

/* Instructions that define the CFA. false: it is another one. */
SIGNAL_SAFE static bool run_cfa(struct cfi_program *program, struct cfi_cursor *cursor, uint8_t op)
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
        define_cfa(rule, reg, factored(program, (uint64_t)take_sleb(cursor)));
        return true;
    case CFA_DEF_CFA_REGISTER:
        define_cfa(rule, take_uleb(cursor), rule->cfa_offset);
        return true;
    case CFA_DEF_CFA_OFFSET:
        rule->cfa_offset = (int32_t)take_uleb(cursor);
        return true;
    case CFA_DEF_CFA_OFFSET_SF:
        rule->cfa_offset = (int32_t)factored(program, (uint64_t)take_sleb(cursor));
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
SIGNAL_SAFE static bool run_place(struct cfi_program *program, struct cfi_cursor *cursor,
                                  uint8_t op)
{
    struct cfi_rule *rule = &program->rule;
    uint64_t reg;

    switch (op) {
    case CFA_OFFSET_EXTENDED:
        reg = take_uleb(cursor);
        set_place(rule, reg, CFI_AT_CFA, factored(program, take_uleb(cursor)));
        return true;
    case CFA_OFFSET_EXTENDED_SF:
        reg = take_uleb(cursor);
        set_place(rule, reg, CFI_AT_CFA, factored(program, (uint64_t)take_sleb(cursor)));
        return true;
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        reg = take_uleb(cursor);
        set_place(rule, reg, CFI_AT_CFA, factored(program, -take_uleb(cursor)));
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

uint64_t cfi_run_one(struct cfi_program *program, struct cfi_cursor *cursor)
{
    uint8_t op = (uint8_t)take_bytes(cursor, 1);
    uint8_t operand = op & 0x3f;

    switch (op & 0xc0) {
    case CFA_ADVANCE_LOC:
        return operand * program->code_align;
    case CFA_OFFSET:
        set_place(&program->rule, operand, CFI_AT_CFA, factored(program, take_uleb(cursor)));
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
