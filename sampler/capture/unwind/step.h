/*
 * step.h - from one frame to its caller's, by what is known of the code at its pc.
 *
 *   row of a table -> by the plain row, by its rule, or over a signal's frame
 *   code of a JIT  -> by frame pointer, or a trampoline's frame
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

SIGNAL_SAFE_INLINE enum feed_end rule_cfa(const struct unwind_frame *frame,
                                          const struct cfi_rule *rule, uint64_t *cfa)
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
SIGNAL_SAFE_INLINE enum feed_end saved_value(const struct unwind_frame *frame, enum cfi_place place,
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

SIGNAL_SAFE_INLINE enum feed_end return_address(struct unwind_frame *frame, enum cfi_place place,
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
SIGNAL_SAFE_INLINE enum feed_end enter_caller(struct unwind_frame *frame, uint64_t cfa, uint64_t pc,
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

SIGNAL_SAFE_INLINE void leave_third(struct unwind_frame *frame, const struct cfi_rule *rule,
                                    uint64_t cfa)
{
    uint64_t base = cfa;

    if (rule->third == CFI_SAME)
        return;
    frame->third_known =
        rule->third == CFI_AT_CFA ||
        (rule->third == CFI_AT_REG && frame_register(frame, rule->third_reg, &base));
    frame->third_at = base + (uint64_t)(int64_t)rule->third_offset;
}

SIGNAL_SAFE_INLINE enum feed_end step_by_rule(struct unwind_frame *frame,
                                              const struct cfi_rule *rule)
{
    uint64_t cfa, pc = 0, fp = frame->fp;
    enum feed_end end = rule_cfa(frame, rule, &cfa);

    if (end == GO_ON)
        end = return_address(frame, (enum cfi_place)rule->ra, cfa, rule->ra_offset, &pc);
    if (end != GO_ON)
        return end;
    leave_third(frame, rule, cfa);
    if (rule->fp == CFI_UNDEFINED || rule->fp == CFI_UNSUPPORTED)
        frame->fp_lost = true;
    else
        end = saved_value(frame, (enum cfi_place)rule->fp, cfa, rule->fp_reg, rule->fp_offset, &fp);
    if (rule->fp == CFI_AT_CFA || rule->fp == CFI_AT_REG)
        frame->fp_lost = false;
    return end == GO_ON ? enter_caller(frame, cfa, pc, fp) : end;
}

SIGNAL_SAFE_INLINE enum feed_end step_plain(struct unwind_frame *frame,
                                            const struct unwind_row *row)
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
    if (row->third) {
        frame->third_known = row->third != ROW_LOST;
        frame->third_at = cfa + (uint64_t)(row->third * 8l);
    }
    if (row->fp == ROW_LOST)
        frame->fp_lost = true;
    else if (row->fp) {
        if (!frame_load(frame, cfa + (uint64_t)(row->fp * 8l), &fp))
            return FEED_END_STACK;
        frame->fp_lost = false;
    }
    return enter_caller(frame, cfa, pc, fp);
}

/* The kernel saved the interrupted registers on the stack. */
SIGNAL_SAFE_INLINE enum feed_end step_signal(struct unwind_frame *frame)
{
    uint64_t at = arch_signal_context(frame->sp), first, last;

    if (frame->sleeper) {
        if (frame_read_foreign(frame, at, &frame->sleeper->context,
                               sizeof frame->sleeper->context) != sizeof frame->sleeper->context)
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

/* How far the prologue of the code at pc has come, or the epilogue has gone back. Through the
 * kernel, for code need not be readable. */
SIGNAL_SAFE_INLINE enum arch_frame frame_state(const struct unwind_frame *frame)
{
    uint32_t code;

    if (frame_read_foreign(frame, frame->pc, &code, sizeof code) != sizeof code)
        return ARCH_FRAME_SET;
    return arch_frame_at(code);
}

/* A trampoline's: the code at the pc says how far it is to the return address. False: it is none.
 */
SIGNAL_SAFE_INLINE bool step_trampoline(struct unwind_frame *frame, enum feed_end *end)
{
    uint8_t code[ARCH_TRAMPOLINE_BYTES];
    uint64_t bytes, pc = 0;

    if (frame_read_foreign(frame, frame->pc, code, sizeof code) != sizeof code)
        return false;
    bytes = arch_trampoline_frame(code, frame->context != NULL);
    if (!bytes)
        return false;
    frame->pc_at = frame->sp + bytes - 8;
    *end = frame_load(frame, frame->pc_at, &pc)
               ? enter_caller(frame, frame->sp + bytes, pc, frame->fp)
               : FEED_END_STACK;
    return true;
}

/* JIT code keeps its caller's frame pointer and the return address in a pair on the stack, and
 * points to the pair with its own. */
SIGNAL_SAFE_INLINE enum feed_end step_by_frame_pointer(struct unwind_frame *frame)
{
    uint64_t pair = frame->fp, fp = frame->fp, pc = 0;
    enum arch_frame state = frame->context ? frame_state(frame) : ARCH_FRAME_SET;
    enum feed_end end;

    frame->third_known = false;
    if (state == ARCH_FRAME_NONE) {
        end = return_address(frame, ARCH_FRAMELESS_PLACE, frame->sp + ARCH_FRAMELESS_BYTES,
                             -ARCH_FRAMELESS_BYTES, &pc);
        return end == GO_ON ? enter_caller(frame, frame->sp + ARCH_FRAMELESS_BYTES, pc, fp) : end;
    }
    if (state == ARCH_FRAME_PUSHED)
        pair = frame->sp;
    else if (frame->fp_lost)
        return FEED_END_RULE;
    else if (!pair && !frame->context)
        return FEED_END_ROOT; /* the caller's caller has none: an Erlang process begins so */
    frame->pc_at = pair + 8;
    if (!frame_load(frame, pair + 8, &pc) || !frame_load(frame, pair, &fp))
        return FEED_END_STACK;
    return enter_caller(frame, pair + 16, pc, fp);
}

/* The frame pointer of code that called C on the thread's stack points to the code's own stack. */
SIGNAL_SAFE_INLINE void follow_to_its_stack(struct unwind_frame *frame)
{
    if (frame->context || frame->foreign || frame->fp_lost || !frame->fp ||
        (frame->fp >= frame->stack->low && frame->fp <= frame->stack->high))
        return;
    frame->foreign = true;
    frame->sp = frame->fp;
}

SIGNAL_SAFE_INLINE enum feed_end step_end(struct unwind_frame *frame, const struct unwind_row *row)
{
    switch (ROW_VALUE(row)) {
    case ROW_END_ROOT:
        return FEED_END_ROOT;
    case ROW_END_SIGNAL:
        return step_signal(frame);
    case ROW_END_SWITCH:
        follow_to_its_stack(frame);
        return step_by_frame_pointer(frame);
    default:
        return FEED_END_RULE;
    }
}

/* Code without unwind data, where such code is known to be a JIT's. */
SIGNAL_SAFE_INLINE enum feed_end step_jit(struct unwind_frame *frame, const struct code_map *map)
{
    enum feed_end end;

    if (map->changes_stacks)
        follow_to_its_stack(frame);
    return map->trampolines && step_trampoline(frame, &end) ? end : step_by_frame_pointer(frame);
}

/* Without a table: the module was loaded a moment ago, or one was unloaded. */
SIGNAL_SAFE_INLINE enum feed_end step_live(struct unwind_frame *frame, uint64_t pc)
{
    struct cfi_rule rule;
    bool signal_frame;

    /* The loader here knows nothing of another process. */
    if (frame->sleeper || frame->cramped || !live_cfi_rule(pc, &rule, &signal_frame))
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

SIGNAL_SAFE_INLINE enum feed_end step(struct unwind_frame *frame, const struct code_map *map,
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
        return map->by_frame_pointer ? step_jit(frame, map) : FEED_END_NO_ROW;
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
