#include "unwind.h"

#include "frame.h"
#include "root_side.h"
#include "step.h"

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
    root_side_note(walk->request->root_side, walk->depth++, &walk->frame, encoded);
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
        root_side_keep(side, walk.depth);
    if (walk.depth > request->frames_max)
        side->walked = 1;
    result->end = end == GO_ON || walk.depth > request->frames_max ? FEED_END_DEPTH : end;
    result->depth = walk.depth < request->frames_max ? walk.depth : request->frames_max;
    if (result->end == FEED_END_DEPTH)
        root_side_join(side, &walk.frame, frames, request->frames_max);
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
    long got = frame_read_foreign(low, sleeper->copy, sizeof sleeper->copy);

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
