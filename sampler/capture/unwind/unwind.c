#include "unwind.h"

#include "frame.h"
#include "outer_frames.h"
#include "step.h"
#include "told_code.h"

#include <string.h>

/* The thread's first frame needs no rules of its own: the loader's entry code has none. */
SIGNAL_SAFE_INLINE enum feed_end at_root(const struct unwind_frame *frame, enum feed_end end)
{
    bool root =
        frame->stack->root && frame->sp >= frame->stack->root && frame->sp <= frame->stack->high;

    return root && end != GO_ON ? FEED_END_ROOT : end;
}

/* The range to believe for pc; NULL: none, and what is mapped should be looked at again. */
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
    struct unwind_frame frame;
    uint64_t *frames;
    uint32_t depth, depth_max;
    const struct provider_list *providers; /* NULL: none is asked */
    void *cursors[FRAME_PROVIDERS_MAX];    /* by provider */
};

SIGNAL_SAFE_INLINE void put_frame(struct walk *walk, uint64_t encoded)
{
    if (walk->depth < walk->request->frames_max)
        walk->frames[walk->depth] = encoded;
    outer_frames_note(walk->request->outer_frames, walk->depth++, &walk->frame, encoded);
}

/* A native frame, as its provider sees it. */
struct asked_frame {
    struct isoscope_native_frame native; /* first: it comes back by its address */
    uint64_t stack_high; /* what lies between its stack pointer and here is readable; 0: unknown */
    struct guarded_memory *memory; /* NULL: the kernel reads */
};

static SIGNAL_SAFE int read_for_provider(const struct isoscope_native_frame *native, void *out,
                                         uintptr_t address, size_t size)
{
    const struct asked_frame *asked = (const struct asked_frame *)native;
    long got;

    if (address >= native->sp && address <= asked->stack_high &&
        size <= asked->stack_high - address) {
        memcpy(out, (const void *)address, size);
        return 0;
    }
    if (asked->memory && asked->memory->way == GUARDED_BY_FAULT)
        return guarded_read(asked->memory, out, address, size) ? 0 : -ISOSCOPE_NOT_FOUND;
    got = memory_copy(0, out, address, size);
    return got == (long)size ? 0 : memory_is_refused(got) ? -ISOSCOPE_SYSTEM : -ISOSCOPE_NOT_FOUND;
}

SIGNAL_SAFE_INLINE struct runtime_native native_of(const struct unwind_frame *frame, uint64_t pc,
                                                   bool outside)
{
    return (struct runtime_native){ pc,      frame->sp,     frame->fp, !frame->fp_lost,
                                    outside, frame->context };
}

/* By what the service knows of the runtime. Those that find no room are noted as others are. */
static SIGNAL_SAFE __attribute__((noinline)) bool put_scanned(struct walk *walk, uint64_t pc,
                                                              bool outside)
{
    const struct runtime_native native = native_of(&walk->frame, pc, outside);
    struct runtime_scan *scan = walk->request->scan;
    const uint32_t max = walk->request->frames_max;
    uint32_t count;

    scan->room = walk->depth < max ? max - walk->depth : 0;
    scan->frames = walk->frames + walk->depth;
    count = runtime_scan_frames(scan, &native);
    for (uint32_t i = count < RUNTIME_SPILL ? 0 : count - RUNTIME_SPILL; i < count; i++)
        outer_frames_note(walk->request->outer_frames, walk->depth + i, &walk->frame,
                          i < scan->room ? scan->frames[i] : scan->spill[i % RUNTIME_SPILL]);
    walk->depth += count;
    return count;
}

/* Out of code that a runtime made, where it says how. */
static SIGNAL_SAFE __attribute__((noinline)) bool step_scanned(struct walk *walk,
                                                               enum feed_end *end)
{
    struct unwind_frame *frame = &walk->frame;
    struct runtime_native native = native_of(frame, frame->pc, true);

    if (!runtime_scan_step(walk->request->scan, &native))
        return false;
    frame->third_known = false;
    frame->fp_lost = !native.fp_known;
    frame->pc_at = 0;
    *end = enter_caller(frame, native.sp, native.pc, native.fp);
    return true;
}

/* The next frame that the provider has for this native one. False: no more. */
SIGNAL_SAFE_INLINE bool ask_provider(struct walk *walk, const struct provider_range *provider,
                                     const struct isoscope_native_frame *native, uint64_t *frame)
{
    void **cursor = &walk->cursors[provider->number];
    struct isoscope_code code = { .position = 0 };
    const char *name;

    if (provider->call) {
        name = provider->call(provider->context, native, cursor);
        if (name)
            *frame = FEED_FRAME_NAMED(FEED_NAME_INTERPRETED,
                                      feed_writer_name(walk->request->named->writer, name));
        return name != NULL;
    }
    if (!walk->request->scan || !provider->code(provider->context, native, cursor, &code))
        return false;
    *frame = told_code_frame(walk->request->scan, provider, native, &code);
    return true;
}

static SIGNAL_SAFE __attribute__((noinline)) bool
put_told(struct walk *walk, const struct provider_range *provider, uint64_t pc)
{
    struct runtime_scan *scan = walk->request->scan;
    struct asked_frame asked = { { pc, walk->frame.sp, 0, read_for_provider },
                                 walk->frame.foreign ? 0 : walk->frame.stack->high,
                                 scan ? &scan->memory : NULL };
    uint64_t frame;

    while (walk->depth < walk->depth_max && ask_provider(walk, provider, &asked.native, &frame)) {
        put_frame(walk, frame);
        asked.native.shown++;
    }
    return asked.native.shown;
}

/* What the interpreter runs in this frame stands in the frame's place. outside: pc is in no module.
 * False: nobody has anything to say of it. */
SIGNAL_SAFE_INLINE bool put_interpreted(struct walk *walk, uint64_t pc, bool outside)
{
    const struct provider_range *provider;

    if (walk->request->scan && put_scanned(walk, pc, outside))
        return true;
    provider = walk->providers ? frame_providers_find(walk->providers, pc) : NULL;
    return provider && put_told(walk, provider, pc);
}

/* What the program told of the code at pc. */
SIGNAL_SAFE_INLINE bool name_code(const struct walk *walk, uint64_t pc, uint64_t *frame)
{
    const struct named_code *named = walk->request->named;
    const struct unwind_sleeper *sleeper = walk->frame.sleeper;
    const struct named_range *range;

    if (sleeper)
        return sleeper->named && sleeper->named(sleeper->named_context, pc, frame);
    range = named ? named_code_find(named, pc) : NULL;
    if (range)
        *frame = FEED_FRAME_NAMED(FEED_NAME_JIT, feed_writer_name(named->writer, range->name));
    return range;
}

/* Of a pc in no module. range: it is a JIT's; NULL: nobody's. */
SIGNAL_SAFE_INLINE enum feed_end put_and_step_outside(struct walk *walk, uint64_t pc,
                                                      const struct code_range *range, bool *unknown)
{
    bool interpreted = put_interpreted(walk, pc, true);
    enum feed_end end;
    uint64_t told;

    if (name_code(walk, pc, &told)) {
        if (!interpreted)
            put_frame(walk, told);
        return step_by_frame_pointer(&walk->frame);
    }
    if (!interpreted)
        put_frame(walk, range && range->number ? FEED_FRAME(range->number, pc - range->bias)
                                               : FEED_FRAME(0, pc));
    if (walk->request->scan && step_scanned(walk, &end))
        return end;
    if (range)
        return step_jit(&walk->frame, walk->request->map);
    *unknown = true;
    return step_live(&walk->frame, pc);
}

/* A thread that was never seen with a stack that fits is walked far, once: again and again it would
 * take longer than a period, and the thread would not get on. */
enum { WALK_TO_ROOT_MAX = 1 << 14 };

SIGNAL_SAFE_INLINE uint32_t walk_max(const struct unwind_request *request,
                                     const struct unwind_frame *frame)
{
    const struct outer_frames *outer = request->outer_frames;
    bool far = !outer->walked && !outer->depth[outer->current] && !frame->foreign;

    return far && request->frames_max < WALK_TO_ROOT_MAX ? WALK_TO_ROOT_MAX : request->frames_max;
}

/* frame: becomes the last one. */
SIGNAL_SAFE_INLINE void walk_from(const struct unwind_request *request, struct unwind_frame *frame,
                                  uint64_t *frames, struct unwind_result *result)
{
    struct outer_frames *outer = request->outer_frames;
    struct walk walk = {
        .request = request,
        .frame = *frame,
        .frames = frames,
    };
    const struct code_range *range = NULL;
    enum feed_end end = GO_ON;

    walk.depth_max = walk_max(request, &walk.frame);
    /* A provider is for the thread whose frame it is. */
    if (request->providers && !frame->sleeper)
        walk.providers = frame_providers_list(request->providers);
    result->unknown_code = false;
    while (end == GO_ON && walk.depth < walk.depth_max) {
        /* pc - 1: a return address may already belong to the next function. */
        uint64_t pc = walk.frame.pc - (walk.frame.context ? 0 : 1);

        range = range_of(request->map, range, pc);
        if (range && !range->by_frame_pointer) {
            if (!put_interpreted(&walk, pc, false))
                put_frame(&walk, FEED_FRAME(range->number, pc - range->bias));
            end = step(&walk.frame, request->map, range, pc);
        } else {
            end = put_and_step_outside(&walk, pc, range, &result->unknown_code);
        }
        end = at_root(&walk.frame, end);
    }
    if (end == FEED_END_ROOT)
        outer_frames_keep(outer, walk.depth);
    if (walk.depth > request->frames_max)
        outer->walked = 1;
    if (request->scan)
        runtime_scan_end(request->scan);
    result->lock = request->scan ? request->scan->lock : RUNTIME_LOCK_UNKNOWN;
    result->task = request->scan ? request->scan->task : 0;
    result->end = end == GO_ON || walk.depth > request->frames_max ? FEED_END_DEPTH : end;
    result->depth = walk.depth < request->frames_max ? walk.depth : request->frames_max;
    if (result->end == FEED_END_DEPTH)
        outer_frames_join(outer, &walk.frame, frames, request->frames_max);
    *frame = walk.frame;
}

void unwind(const struct unwind_request *request, uint64_t *frames, struct unwind_result *result)
{
    struct unwind_frame frame = { .stack = request->stack, .cramped = request->cramped };

    frame_from_context(&frame, request->context);
    if (request->scan)
        runtime_scan_interrupted(request->scan, request->context);
    walk_from(request, &frame, frames, result);
}

/* Less than asked for where the stack ends before. */
SIGNAL_SAFE_INLINE void copy_top(struct unwind_sleeper *sleeper)
{
    uint64_t low = (sleeper->sp - ARCH_RED_ZONE) & ~UINT64_C(7);
    const struct unwind_frame frame = { .sleeper = sleeper };
    long got = frame_read_foreign(&frame, low, sleeper->copy, sizeof sleeper->copy);

    sleeper->copy_low = low;
    sleeper->copy_bytes = got > 0 ? (uint64_t)got & ~UINT64_C(7) : 0;
}

void unwind_asleep(const struct unwind_request *request, struct unwind_sleeper *sleeper,
                   uint64_t *frames, struct unwind_result *result)
{
    struct unwind_frame frame = { .stack = request->stack,
                                  .pc = sleeper->pc,
                                  .sp = sleeper->sp,
                                  .fp = sleeper->fp,
                                  .fp_lost = !sleeper->fp_known,
                                  .sleeper = sleeper,
                                  .foreign = true };

    if (sleeper->registers) {
        frame_from_context(&frame, sleeper->registers);
        sleeper->sp = frame.sp;
    }
    copy_top(sleeper);
    if (request->scan)
        request->scan->waits_at = sleeper->waits_at;
    walk_from(request, &frame, frames, result);
    sleeper->pc = frame.pc;
    sleeper->sp = frame.sp;
    sleeper->fp = frame.fp;
    sleeper->fp_known = !frame.fp_lost;
    sleeper->registers = NULL;
}
