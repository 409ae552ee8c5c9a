#include "v8.h"
#include "v8_code.h"
#include "v8_machine.h"
#include "v8_optimized.h"

#include "../../system/arch.h"

#include <string.h>

/* Below the frame pointer, from the lowest word on. */
enum slot {
    SLOT_OFFSET,
    SLOT_BYTECODE,
    SLOT_COUNT_OF_ARGUMENTS,
    SLOT_FUNCTION,
    SLOT_CONTEXT,
    SLOTS
};

struct frame {
    uint64_t slots[SLOTS];
    uint64_t pc;
    const ucontext_t *context;
};

/* A leaf's frame pointer is its caller's until its prologue has come that far, and again at its end. */
static SIGNAL_SAFE bool has_own_frame(const struct runtime_scan *scan,
                                      const struct runtime_native *native)
{
    uint32_t code;

    if (!native->context)
        return true;
    return native->sp <= native->fp - (SLOTS - SLOT_FUNCTION) * 8 &&
           (!guarded_read((struct guarded_memory *)&scan->memory, &code, native->pc, sizeof code) ||
            arch_frame_at(code) == ARCH_FRAME_SET);
}

static SIGNAL_SAFE bool read_frame(const struct v8_walk *walk, const struct runtime_native *native,
                                   struct frame *out)
{
    out->pc = native->pc;
    out->context = native->context;
    return native->fp_known && has_own_frame(walk->scan, native) &&
           guarded_read(&walk->scan->memory, out->slots, native->fp - sizeof out->slots,
                        sizeof out->slots) &&
           v8_is_between(walk, out->slots[SLOT_CONTEXT], V8_TYPE_CONTEXT_FIRST,
                         V8_TYPE_CONTEXT_LAST) &&
           v8_is_between(walk, out->slots[SLOT_FUNCTION], V8_TYPE_FUNCTION_FIRST,
                         V8_TYPE_FUNCTION_LAST);
}

/* The interpreter keeps it in a register, and puts it into the frame before calls. */
static SIGNAL_SAFE uint64_t offset_word(const struct frame *frame)
{
#ifdef __x86_64__
    enum { BYTECODE_IN = REG_R12, OFFSET_IN = REG_R9 };

    if (frame->context &&
        (uint64_t)frame->context->uc_mcontext.gregs[BYTECODE_IN] == frame->slots[SLOT_BYTECODE])
        return (uint64_t)frame->context->uc_mcontext.gregs[OFFSET_IN] << 32;
#endif
    return frame->slots[SLOT_OFFSET];
}

/* It counts from the BytecodeArray's tagged pointer. */
static SIGNAL_SAFE uint32_t bytecode_offset(const struct v8_walk *walk, uint64_t bytecode,
                                            uint64_t word)
{
    int32_t offset, length;

    if (!v8_small(word, &offset) || !v8_number(walk, bytecode, V8_LENGTH, &length))
        return FEED_NO_POSITION;
    offset -= (int32_t)walk->words[V8_BYTECODE_HEADER] - V8_TAG;
    return offset >= 0 && offset < length ? (uint32_t)offset : (uint32_t)FEED_NO_POSITION;
}

static SIGNAL_SAFE uint32_t interpreted_offset(const struct v8_walk *walk,
                                               const struct frame *frame, uint64_t bytecode)
{
    uint32_t offset = bytecode_offset(walk, bytecode, offset_word(frame));

    return offset == FEED_NO_POSITION && frame->context
               ? bytecode_offset(walk, bytecode, frame->slots[SLOT_OFFSET])
               : offset;
}

/* Whose positions count bytecodes. Without their table it is known where the function begins. */
static SIGNAL_SAFE bool put_bytecode(const struct v8_walk *walk, const struct v8_shared *shared,
                                     uint64_t bytecode, uint32_t offset)
{
    uint64_t table = 0;
    uint32_t id;

    if (bytecode && (!v8_field(walk, bytecode, walk->words[V8_BYTECODE_PLACES], &table) ||
                     !v8_is(walk, table, V8_TYPE_BYTES)))
        table = 0;
    if (!v8_code_id(walk, shared, table, &id))
        return false;
    runtime_put(walk->scan, id, table ? offset : (uint32_t)shared->start + 1);
    return true;
}

static SIGNAL_SAFE bool put_machine(const struct v8_walk *walk, const struct v8_shared *shared,
                                    const struct frame *frame, const struct v8_machine *machine)
{
    uint64_t bytecode;
    uint32_t id;

    if (machine->kind == walk->words[V8_KIND_BASELINE]) {
        if (!v8_shared_bytecode(walk, shared->shared, &bytecode))
            return put_bytecode(walk, shared, 0, 0);
        return put_bytecode(walk, shared, bytecode,
                            v8_machine_offset(walk, machine, bytecode, frame->pc));
    }
    if (machine->kind < walk->words[V8_KIND_BASELINE] ||
        !v8_optimized_id(walk, machine, shared, &id))
        return put_bytecode(walk, shared, 0, 0);
    runtime_put(walk->scan, id, (uint32_t)(frame->pc - machine->start));
    return true;
}

static SIGNAL_SAFE bool put_frame(const struct v8_walk *walk, const struct frame *frame,
                                  bool elsewhere)
{
    uint64_t shared_info, bytecode, map;
    struct v8_shared shared;
    struct v8_machine machine;

    if (!v8_field(walk, frame->slots[SLOT_FUNCTION], walk->words[V8_FUNCTION_SHARED],
                  &shared_info) ||
        !v8_shared_read(walk, shared_info, &shared) || !v8_field(walk, shared_info, 0, &map))
        return false;
    if (elsewhere && v8_machine_find(walk, frame->pc, map, &machine))
        return put_machine(walk, &shared, frame, &machine);
    if (v8_shared_bytecode(walk, shared_info, &bytecode) && bytecode == frame->slots[SLOT_BYTECODE])
        return put_bytecode(walk, &shared, bytecode, interpreted_offset(walk, frame, bytecode));
    return put_bytecode(walk, &shared, 0, 0);
}

/* What the range says of pc. */
static SIGNAL_SAFE bool is_elsewhere(const struct feed_runtime *runtime, uint64_t pc)
{
    for (uint32_t i = 0; i < runtime->range_count && i < FEED_RUNTIME_RANGES_MAX; i++)
        if (runtime->ranges[i].what == V8_BUILTINS && pc >= runtime->ranges[i].start &&
            pc < runtime->ranges[i].end)
            return false;
    return true;
}

uint32_t v8_frames(struct runtime_scan *scan, uint32_t entry, const struct runtime_native *native)
{
    const struct feed_runtime *runtime = &scan->writer->runtimes[entry];
    const struct v8_walk walk = { scan, runtime->words, entry };
    struct frame frame;

    if (!read_frame(&walk, native, &frame) ||
        !put_frame(&walk, &frame, is_elsewhere(runtime, native->pc)))
        return 0;
    return scan->put;
}
