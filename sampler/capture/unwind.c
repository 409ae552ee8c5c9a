#include "unwind.h"

#include "arch.h"

/* More to come. */
#define GO_ON ((enum feed_end)FEED_END_COUNT)

/* One frame. context: where all its registers are, for the leaf and what a signal interrupted. */
struct frame {
    uint64_t pc, sp, fp;
    const ucontext_t *context;
    const struct stack_range *stack;
    bool fp_lost;
#ifdef __aarch64__
    uint64_t lr;
    bool lr_known;
#endif
};

SIGNAL_SAFE_INLINE void frame_from_context(struct frame *frame, const ucontext_t *context)
{
    frame->context = context;
    frame->pc = arch_pc(context);
    frame->sp = arch_register(context, ARCH_SP);
    frame->fp = arch_register(context, ARCH_FP);
    frame->fp_lost = false;
#ifdef __aarch64__
    frame->lr = arch_register(context, ARCH_RA);
    frame->lr_known = true;
#endif
}

/* Reads a word of the thread's stack. In an epilogue, compilers still give the place that a
 * register was just popped from: it lies below the stack pointer, where the signal left it whole.
 */
SIGNAL_SAFE_INLINE bool load(const struct frame *frame, uint64_t address, uint64_t *out)
{
    if (address + ARCH_RED_ZONE < frame->sp || address < frame->stack->low || address % 8 ||
        address > frame->stack->high - 8)
        return false;
    *out = *(const uint64_t *)address;
    return true;
}

SIGNAL_SAFE_INLINE bool register_value(const struct frame *frame, unsigned reg, uint64_t *out)
{
    if (reg == ARCH_SP)
        *out = frame->sp;
    else if (reg == ARCH_FP && !frame->fp_lost)
        *out = frame->fp;
    else if (reg < ARCH_REGS && frame->context)
        *out = arch_register(frame->context, reg);
    else
        return false;
    return true;
}

SIGNAL_SAFE_INLINE enum feed_end rule_cfa(const struct frame *frame, const struct cfi_rule *rule,
                                          uint64_t *cfa)
{
    uint64_t base;

    if (!register_value(frame, rule->cfa_reg, &base))
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
        if (!load(frame, base, cfa))
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
    if (place == CFI_AT_REG && !register_value(frame, reg, &base))
        return FEED_END_RULE;
    if (place != CFI_AT_CFA && place != CFI_AT_REG)
        return FEED_END_RULE;
    return load(frame, base + (uint64_t)(int64_t)offset, value) ? GO_ON : FEED_END_STACK;
}

SIGNAL_SAFE_INLINE enum feed_end return_address(struct frame *frame, enum cfi_place place,
                                                uint64_t cfa, int32_t offset, uint64_t *pc)
{
#ifdef __aarch64__
    if (place == CFI_SAME) {
        if (!frame->lr_known)
            return FEED_END_RULE;
        *pc = frame->lr;
        return GO_ON;
    }
#endif
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
    if (cfa > frame->stack->high)
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
    else if (row->fp && !load(frame, cfa + (uint64_t)(row->fp * 8l), &fp))
        return FEED_END_STACK;
    return enter_caller(frame, cfa, pc, fp);
}

/* The kernel saved the interrupted registers on the stack. */
SIGNAL_SAFE_INLINE enum feed_end step_signal(struct frame *frame)
{
    uint64_t at = arch_signal_context(frame->sp);
    uint64_t before = frame->sp;

    if (at < frame->sp || at % 8 || at > frame->stack->high - sizeof(ucontext_t))
        return FEED_END_STACK;
    frame_from_context(frame, (const ucontext_t *)at);
    /* From an alternate stack the interrupted one lies elsewhere. */
    if (frame->sp < before || frame->sp > frame->stack->high)
        return FEED_END_STACK;
    return GO_ON;
}

SIGNAL_SAFE_INLINE enum feed_end step_end(struct frame *frame, const struct unwind_row *row)
{
    switch (ROW_VALUE(row)) {
    case ROW_END_ROOT:
        return FEED_END_ROOT;
    case ROW_END_SIGNAL:
        return step_signal(frame);
    case ROW_END_NO_ROW:
        return FEED_END_NO_ROW;
    default:
        return FEED_END_RULE;
    }
}

SIGNAL_SAFE_INLINE enum feed_end step(struct frame *frame, const struct code_range *range,
                                      uint64_t pc)
{
    const struct unwind_row *row =
        range->table ? unwind_table_find(range->table, pc - range->bias) : NULL;

    if (!row)
        return FEED_END_NO_ROW;
    switch (ROW_KIND(row)) {
    case ROW_RULE:
        return step_by_rule(frame, &range->table->rules[ROW_VALUE(row)]);
    case ROW_END:
        return step_end(frame, row);
    default:
        return step_plain(frame, row);
    }
}

/* The thread's first frame needs no rules of its own: the loader's entry code has none. */
SIGNAL_SAFE_INLINE enum feed_end at_root(const struct frame *frame, enum feed_end end)
{
    bool root =
        frame->stack->root && frame->sp >= frame->stack->root && frame->sp <= frame->stack->high;

    return root && end != GO_ON ? FEED_END_ROOT : end;
}

uint32_t unwind(const struct code_map *map, const struct stack_range *stack,
                const ucontext_t *context, uint64_t *frames, uint32_t frames_max,
                enum feed_end *end)
{
    struct frame frame = { .stack = stack };
    const struct code_range *range = NULL;
    uint32_t depth = 0;

    frame_from_context(&frame, context);
    *end = GO_ON;
    while (*end == GO_ON) {
        /* pc - 1: a return address may already belong to the next function. */
        uint64_t pc = frame.pc - (frame.context ? 0 : 1);

        if (depth == frames_max) {
            *end = FEED_END_DEPTH;
            break;
        }
        if (!range || pc < range->start || pc >= range->end)
            range = code_map_find(map, pc);
        if (range && !code_range_trusted(map, range))
            range = NULL;
        frames[depth++] = range ? FEED_FRAME(range->number, pc - range->bias) : FEED_FRAME(0, pc);
        if (!range)
            *end = FEED_END_NO_MODULE;
        else if (frame.sp < stack->low || frame.sp > stack->high)
            *end = FEED_END_STACK;
        else
            *end = step(&frame, range, pc);
        *end = at_root(&frame, *end);
    }
    return depth;
}
