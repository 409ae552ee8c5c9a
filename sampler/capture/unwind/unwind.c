#include "unwind.h"

#include "live_cfi.h"

#include "../../feed/sys.h"
#include "../system/arch.h"

#include <sys/uio.h>

/* More to come. */
#define GO_ON ((enum feed_end)FEED_END_COUNT)

/* One frame. context: where all its registers are, for the leaf and what a signal interrupted. */
struct frame {
    uint64_t pc, sp, fp;
    const ucontext_t *context;
    const struct stack_range *stack;
    bool fp_lost;
    uint64_t pc_at;                 /* where pc was loaded from; 0: it was in a register */
    struct unwind_sleeper *sleeper; /* NULL: the thread that runs this */
    bool foreign; /* sp lies on another stack: a coroutine's, or the signals' alternate one */
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
    frame->pc_at = 0;
    frame->foreign =
        frame->sleeper || frame->sp < frame->stack->low || frame->sp > frame->stack->high;
#ifdef __aarch64__
    frame->lr = arch_register(context, ARCH_RA);
    frame->lr_known = true;
#endif
}

/* Of a stack nobody registered it is not known where it ends, nor whether it will stay: the kernel
 * reads it for us, and says no where a plain load would fault. */
SIGNAL_SAFE_INLINE long read_foreign(uint64_t address, void *out, uint64_t bytes)
{
    struct iovec to = { out, bytes };
    struct iovec from = { (void *)address, bytes };

    return sys_call6(SYS_process_vm_readv, sys_call0(SYS_getpid), (long)&to, 1, (long)&from, 1, 0);
}

SIGNAL_SAFE_INLINE bool load_foreign(const struct frame *frame, uint64_t address, uint64_t *out)
{
    const struct unwind_sleeper *sleeper = frame->sleeper;

    if (sleeper && address - sleeper->copy_low < sleeper->copy_bytes) {
        *out = *(const uint64_t *)(sleeper->copy + (address - sleeper->copy_low));
        return true;
    }
    return read_foreign(address, out, sizeof *out) == sizeof *out;
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

/* Reads a word of the thread's stack. In an epilogue, compilers still give the place that a
 * register was just popped from: it lies below the stack pointer, where the signal left it whole.
 */
SIGNAL_SAFE_INLINE bool load(const struct frame *frame, uint64_t address, uint64_t *out)
{
    if (address + ARCH_RED_ZONE < frame->sp || address % 8)
        return false;
    if (frame->foreign)
        return load_foreign(frame, address, out);
    if (address < frame->stack->low || address > frame->stack->high - 8)
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
        if (!load(frame, cfa + (uint64_t)(row->fp * 8l), &fp))
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
        if (read_foreign(at, &frame->sleeper->context, sizeof frame->sleeper->context) !=
            sizeof frame->sleeper->context)
            return FEED_END_STACK;
        frame_from_context(frame, &frame->sleeper->context);
        return GO_ON;
    }
    /* All of it must be readable, for the registers are then read one by one. */
    if (!load(frame, at, &first) || !load(frame, at + sizeof(ucontext_t) - 8, &last))
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
    if (!load(frame, pair + 8, &pc) || !load(frame, pair, &fp))
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

/* The range to believe for pc; NULL: none, and the sampler's thread should look again. */
SIGNAL_SAFE_INLINE const struct code_range *range_of(const struct code_map *map,
                                                     const struct code_range *last, uint64_t pc)
{
    const struct code_range *range =
        last && pc >= last->start && pc < last->end ? last : code_map_find(map, pc);

    return range && code_range_trusted(map, range) ? range : NULL;
}

/* Notes the frame among the last ones of this walk. */
SIGNAL_SAFE_INLINE void note_root_side(struct root_side *side, uint32_t depth,
                                       const struct frame *frame, uint64_t encoded)
{
    side->noted[!side->current][depth % ROOT_SIDE_FRAMES] =
        (struct root_side_frame){ frame->sp, frame->pc_at, frame->pc, encoded };
}

/* The walk reached the thread's start: what it noted is the root side from now on. */
SIGNAL_SAFE_INLINE void keep_root_side(struct root_side *side, uint32_t depth)
{
    side->current = !side->current;
    side->depth[side->current] = depth;
}

/* How many of the outermost frames kept still lie on the stack, beyond where the walk stopped. */
SIGNAL_SAFE_INLINE uint32_t root_side_standing(const struct root_side *side,
                                               const struct frame *frame)
{
    uint32_t depth = side->depth[side->current], standing = 0;

    while (standing < ROOT_SIDE_FRAMES && standing < depth) {
        const struct root_side_frame *kept =
            &side->noted[side->current][(depth - 1 - standing) % ROOT_SIDE_FRAMES];
        uint64_t pc;

        if (kept->sp <= frame->sp || !kept->pc_at || !load(frame, kept->pc_at, &pc) ||
            pc != kept->pc)
            break;
        standing++;
    }
    return standing;
}

/* A stack too deep: its leaf side stays, then a mark, then the root side as it was last seen whole.
 */
SIGNAL_SAFE_INLINE void join_root_side(const struct root_side *side, const struct frame *frame,
                                       uint64_t *frames, uint32_t frames_max)
{
    uint32_t depth = side->depth[side->current];
    uint32_t count = root_side_standing(side, frame);

    if (count > frames_max / 4)
        count = frames_max / 4;
    if (!count)
        return;
    frames[frames_max - count - 1] = FEED_FRAME_GAP;
    for (uint32_t i = 0; i < count; i++)
        frames[frames_max - 1 - i] =
            side->noted[side->current][(depth - 1 - i) % ROOT_SIDE_FRAMES].encoded;
}

/* A walk under way. */
struct walk {
    const struct unwind_request *request;
    struct frame frame;
    uint64_t *frames;
    uint32_t depth, depth_max;
    void *cursor; /* the frame provider's */
};

SIGNAL_SAFE_INLINE void put(struct walk *walk, uint64_t encoded)
{
    if (walk->depth < walk->request->frames_max)
        walk->frames[walk->depth] = encoded;
    note_root_side(walk->request->root_side, walk->depth++, &walk->frame, encoded);
}

/* What the interpreter runs in this frame stands in the frame's place. False: it has nothing to say
 * of it. */
SIGNAL_SAFE_INLINE bool put_interpreted(struct walk *walk, uint64_t pc)
{
    const struct named_code *named = walk->request->named;
    /* A provider is for the thread whose frame it is. */
    bool ask = named && !walk->frame.sleeper;
    const struct frame_provider *provider = ask ? named_code_provider(named, pc) : NULL;
    struct isoscope_native_frame native = { pc, walk->frame.sp, 0 };

    while (provider && walk->depth < walk->depth_max) {
        const char *name = provider->call(provider->context, &native, &walk->cursor);

        if (!name)
            break;
        put(walk, FEED_FRAME_NAMED(FEED_NAME_INTERPRETED, segment_name(named->segment, name)));
        native.shown++;
    }
    return native.shown;
}

/* Of a pc in no module. by_frame_pointer: it is a JIT's. */
SIGNAL_SAFE_INLINE enum feed_end put_and_step_outside(struct walk *walk, uint64_t pc,
                                                      bool by_frame_pointer, bool *unknown)
{
    const struct named_code *named = walk->request->named;
    const struct named_range *jit = named ? named_code_find(named, pc) : NULL;

    if (jit) {
        put(walk, FEED_FRAME_NAMED(FEED_NAME_JIT, segment_name(named->segment, jit->name)));
        return step_by_frame_pointer(&walk->frame);
    }
    put(walk, FEED_FRAME(0, pc));
    if (by_frame_pointer)
        return step_by_frame_pointer(&walk->frame);
    *unknown = true;
    return step_live(&walk->frame, pc);
}

/* A thread that was never seen with a stack that fits is walked far, once: again and again it would
 * take longer than a period, and the thread would not get on. */
enum { WALK_TO_ROOT_MAX = 1 << 14 };

SIGNAL_SAFE_INLINE uint32_t walk_max(const struct unwind_request *request,
                                     const struct frame *frame)
{
    const struct root_side *side = request->root_side;
    bool far = !side->walked && !side->depth[side->current] && !frame->foreign;

    return far && request->frames_max < WALK_TO_ROOT_MAX ? WALK_TO_ROOT_MAX : request->frames_max;
}

SIGNAL_SAFE_INLINE void walk_from(const struct unwind_request *request, struct frame frame,
                                  uint64_t *frames, struct unwind_result *result)
{
    struct root_side *side = request->root_side;
    struct walk walk = {
        .request = request,
        .frame = frame,
        .frames = frames,
    };
    const struct code_range *range = NULL;
    enum feed_end end = GO_ON;

    walk.depth_max = walk_max(request, &walk.frame);
    result->unknown_code = false;
    while (end == GO_ON && walk.depth < walk.depth_max) {
        /* pc - 1: a return address may already belong to the next function. */
        uint64_t pc = walk.frame.pc - (walk.frame.context ? 0 : 1);

        range = range_of(request->map, range, pc);
        if (range && !range->by_frame_pointer) {
            if (!put_interpreted(&walk, pc))
                put(&walk, FEED_FRAME(range->number, pc - range->bias));
            end = step(&walk.frame, request->map, range, pc);
        } else {
            end = put_and_step_outside(&walk, pc, range != NULL, &result->unknown_code);
        }
        end = at_root(&walk.frame, end);
    }
    if (end == FEED_END_ROOT)
        keep_root_side(side, walk.depth);
    if (walk.depth > request->frames_max)
        side->walked = 1;
    result->end = end == GO_ON || walk.depth > request->frames_max ? FEED_END_DEPTH : end;
    result->depth = walk.depth < request->frames_max ? walk.depth : request->frames_max;
    if (result->end == FEED_END_DEPTH)
        join_root_side(side, &walk.frame, frames, request->frames_max);
}

void unwind(const struct unwind_request *request, uint64_t *frames, struct unwind_result *result)
{
    struct frame frame = { .stack = request->stack };

    frame_from_context(&frame, request->context);
    walk_from(request, frame, frames, result);
}

/* Less than asked for where the stack ends before. */
SIGNAL_SAFE_INLINE void copy_top(struct unwind_sleeper *sleeper)
{
    uint64_t low = (sleeper->sp - ARCH_RED_ZONE) & ~UINT64_C(7);
    long got = read_foreign(low, sleeper->copy, sizeof sleeper->copy);

    sleeper->copy_low = low;
    sleeper->copy_bytes = got > 0 ? (uint64_t)got & ~UINT64_C(7) : 0;
}

void unwind_asleep(const struct unwind_request *request, struct unwind_sleeper *sleeper,
                   uint64_t *frames, struct unwind_result *result)
{
    struct frame frame = { .stack = request->stack,
                           .pc = sleeper->pc,
                           .sp = sleeper->sp,
                           .fp = sleeper->fp,
                           .fp_lost = !sleeper->fp_known,
                           .sleeper = sleeper,
                           .foreign = true };

    copy_top(sleeper);
    walk_from(request, frame, frames, result);
}
