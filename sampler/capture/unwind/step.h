/*
 * step.h - from one frame to its caller's, by what is known of the code at its pc.
 *
 *   row of a table -> by the plain row, by its rule, or over a signal's frame
 *   code of a JIT  -> by frame pointer
 *   no table yet   -> by the loader's word (live_cfi.h)
 *
 * For unwind.c alone, as frame.h.
 *
 * Signals    SIGNAL_SAFE; bounded by the length of one function's unwind data.
 * Errors     Each step returns GO_ON, and then frame is the caller's; or why the stack ends here.
 */
#ifndef ISOSCOPE_UNWIND_STEP_H
#define ISOSCOPE_UNWIND_STEP_H

#include "frame.h"
#include "live_cfi.h"

/* More to come. */
#define GO_ON ((enum feed_end)FEED_END_COUNT)

SIGNAL_SAFE_INLINE enum feed_end rule_cfa(const struct frame *frame, const struct cfi_rule *rule,
                                          uint64_t *cfa)
{
    uint64_t base;

    if (!frame_register(frame, rule->cfa_reg, &base))
        return FEED_END_RULE;
    base += (uint64_t)(int64_t)rule->cfa_offset;
    switch (rule->cfa) {
    case CFI_CFA_REG:
        *cfa = base;
        return GO_ON;
    case CFI_CFA_PLT:
        *cfa = base + ((frame->pc & 15) >= (uint64_t)rule->cfa_add ? 8 : 0);
        return GO_ON;
    case CFI_CFA_DEREF:
        if (!frame_load(frame, base, cfa))
            return FEED_END_STACK;
        *cfa += (uint64_t)(int64_t)rule->cfa_add;
        return GO_ON;
    default:
        return FEED_END_RULE;
    }
}

/* CFI_SAME leaves *value as it is. */
SIGNAL_SAFE_INLINE enum feed_end saved_value(const struct frame *frame, enum cfi_place place,
                                             uint64_t cfa, unsigned reg, int32_t offset,
                                             uint64_t *value)
{
    uint64_t base = cfa;

    if (place == CFI_SAME)
        return GO_ON;
    if (place == CFI_AT_REG && !frame_register(frame, reg, &base))
        return FEED_END_RULE;
    if (place != CFI_AT_CFA && place != CFI_AT_REG)
        return FEED_END_RULE;
    return frame_load(frame, base + (uint64_t)(int64_t)offset, value) ? GO_ON : FEED_END_STACK;
}

SIGNAL_SAFE_INLINE enum feed_end return_address(struct frame *frame, enum cfi_place place,
                                                uint64_t cfa, int32_t offset, uint64_t *pc)
{
#ifdef __aarch64__
    if (place == CFI_SAME) {
        if (!frame->lr_known)
            return FEED_END_RULE;
        *pc = frame->lr;
        frame->pc_at = 0;
        return GO_ON;
    }
#endif
    frame->pc_at = cfa + (uint64_t)(int64_t)offset;
    return saved_value(frame, place, cfa, ARCH_SP, offset, pc);
}

/* The caller's registers; pc is its return address. */
SIGNAL_SAFE_INLINE enum feed_end enter_caller(struct frame *frame, uint64_t cfa, uint64_t pc,
                                              uint64_t fp)
{
    bool leaf = frame->context != NULL;

    /* A leaf may keep its return address in a register and have no frame of its own. */
    if (cfa < frame->sp || (cfa == frame->sp && !leaf))
        return FEED_END_LOOP;
    if (!frame->foreign && cfa > frame->stack->high)
        return FEED_END_STACK;
    if (pc == 0)
        return FEED_END_ROOT;
    frame->pc = pc;
    frame->sp = cfa;
    frame->fp = fp;
    frame->context = NULL;
#ifdef __aarch64__
    frame->lr_known = false;
#endif
    return GO_ON;
}

SIGNAL_SAFE_INLINE enum feed_end step_by_rule(struct frame *frame, const struct cfi_rule *rule)
{
    uint64_t cfa, pc = 0, fp = frame->fp;
    enum feed_end end = rule_cfa(frame, rule, &cfa);

    if (end == GO_ON)
        end = return_address(frame, (enum cfi_place)rule->ra, cfa, rule->ra_offset, &pc);
    if (end != GO_ON)
        return end;
    if (rule->fp == CFI_UNDEFINED || rule->fp == CFI_UNSUPPORTED)
        frame->fp_lost = true;
    else
        end = saved_value(frame, (enum cfi_place)rule->fp, cfa, rule->fp_reg, rule->fp_offset, &fp);
    if (rule->fp == CFI_AT_CFA || rule->fp == CFI_AT_REG)
        frame->fp_lost = false;
    return end == GO_ON ? enter_caller(frame, cfa, pc, fp) : end;
}

SIGNAL_SAFE_INLINE enum feed_end step_plain(struct frame *frame, const struct unwind_row *row)
{
    uint64_t cfa = (ROW_KIND(row) == ROW_SP ? frame->sp : frame->fp) + 8ul * ROW_VALUE(row);
    uint64_t pc = 0, fp = frame->fp;
    enum feed_end end;

    if (ROW_KIND(row) == ROW_FP && frame->fp_lost)
        return FEED_END_RULE;
#ifdef __aarch64__
    end = return_address(frame, row->fp ? CFI_AT_CFA : CFI_SAME, cfa, row->fp * 8 + 8, &pc);
#else
    end = return_address(frame, CFI_AT_CFA, cfa, ARCH_RA_OFFSET, &pc);
#endif
    if (end != GO_ON)
        return end;
    if (row->fp == ROW_FP_LOST)
        frame->fp_lost = true;
    else if (row->fp) {
        if (!frame_load(frame, cfa + (uint64_t)(row->fp * 8l), &fp))
            return FEED_END_STACK;
        frame->fp_lost = false;
    }
    return enter_caller(frame, cfa, pc, fp);
}

/* The kernel saved the interrupted registers on the stack. */
SIGNAL_SAFE_INLINE enum feed_end step_signal(struct frame *frame)
{
    uint64_t at = arch_signal_context(frame->sp), first, last;

    if (frame->sleeper) {
        if (frame_read_foreign(at, &frame->sleeper->context, sizeof frame->sleeper->context) !=
            sizeof frame->sleeper->context)
            return FEED_END_STACK;
        frame_from_context(frame, &frame->sleeper->context);
        return GO_ON;
    }
    /* All of it must be readable, for the registers are then read one by one. */
    if (!frame_load(frame, at, &first) || !frame_load(frame, at + sizeof(ucontext_t) - 8, &last))
        return FEED_END_STACK;
    frame_from_context(frame, (const ucontext_t *)at);
    return GO_ON;
}

SIGNAL_SAFE_INLINE enum feed_end step_end(struct frame *frame, const struct unwind_row *row)
{
    switch (ROW_VALUE(row)) {
    case ROW_END_ROOT:
        return FEED_END_ROOT;
    case ROW_END_SIGNAL:
        return step_signal(frame);
    default:
        return FEED_END_RULE;
    }
}

/* How far the prologue of the code at pc has come, or the epilogue has gone back. Through the
 * kernel, for code need not be readable. */
SIGNAL_SAFE_INLINE enum arch_frame frame_state(uint64_t pc)
{
    uint32_t code;
    struct iovec to = { &code, sizeof code };
    struct iovec from = { (void *)pc, sizeof code };

    if (sys_call6(SYS_process_vm_readv, sys_call0(SYS_getpid), (long)&to, 1, (long)&from, 1, 0) !=
        sizeof code)
        return ARCH_FRAME_SET;
    return arch_frame_at(code);
}

/* JIT code keeps its caller's frame pointer and the return address in a pair on the stack, and
 * points to the pair with its own. */
SIGNAL_SAFE_INLINE enum feed_end step_by_frame_pointer(struct frame *frame)
{
    uint64_t pair = frame->fp, fp = frame->fp, pc = 0;
    enum arch_frame state = frame->context ? frame_state(frame->pc) : ARCH_FRAME_SET;
    enum feed_end end;

    if (state == ARCH_FRAME_NONE) {
        end = return_address(frame, ARCH_FRAMELESS_PLACE, frame->sp + ARCH_FRAMELESS_BYTES,
                             -ARCH_FRAMELESS_BYTES, &pc);
        return end == GO_ON ? enter_caller(frame, frame->sp + ARCH_FRAMELESS_BYTES, pc, fp) : end;
    }
    if (state == ARCH_FRAME_PUSHED)
        pair = frame->sp;
    else if (frame->fp_lost)
        return FEED_END_RULE;
    frame->pc_at = pair + 8;
    if (!frame_load(frame, pair + 8, &pc) || !frame_load(frame, pair, &fp))
        return FEED_END_STACK;
    return enter_caller(frame, pair + 16, pc, fp);
}

/* Without a table: the module was loaded a moment ago, or one was unloaded. */
SIGNAL_SAFE_INLINE enum feed_end step_live(struct frame *frame, uint64_t pc)
{
    struct cfi_rule rule;
    bool signal_frame;

    /* A sleeper may wake and unload the very module whose data would be read here. */
    if (frame->sleeper || !live_cfi_rule(pc, &rule, &signal_frame))
        return FEED_END_NO_MODULE;
    if (signal_frame)
        return step_signal(frame);
    return rule.ra == CFI_UNDEFINED ? FEED_END_ROOT : step_by_rule(frame, &rule);
}

SIGNAL_SAFE_INLINE const struct unwind_row *row_at(const struct code_range *range, uint64_t pc)
{
    return range->table ? unwind_table_find(range->table, pc - range->bias) : NULL;
}

SIGNAL_SAFE_INLINE bool is_gap(const struct unwind_row *row)
{
    return !row || row->cfa == ROW_CFA(ROW_END, ROW_END_NO_ROW);
}

SIGNAL_SAFE_INLINE enum feed_end step(struct frame *frame, const struct code_map *map,
                                      const struct code_range *range, uint64_t pc)
{
    const struct unwind_row *row = row_at(range, pc);

    if (range->table_to_come)
        return step_live(frame, pc);
    /* A return address that is a function's first byte, behind padding, was put there by hand:
     * nobody calls that function (makecontext's, say), and what its rules call a caller is none. */
    if (!frame->context && is_gap(row) && !is_gap(row_at(range, pc + 1)))
        return FEED_END_ROOT;
    if (is_gap(row))
        return map->by_frame_pointer ? step_by_frame_pointer(frame) : FEED_END_NO_ROW;
    switch (ROW_KIND(row)) {
    case ROW_RULE:
        return step_by_rule(frame, &unwind_table_rules(range->table)[ROW_VALUE(row)]);
    case ROW_END:
        return step_end(frame, row);
    default:
        return step_plain(frame, row);
    }
}

#endif
