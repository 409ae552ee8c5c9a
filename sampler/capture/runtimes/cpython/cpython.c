#include "cpython.h"
#include "cpython_code.h"
#include "cpython_tasks.h"
#include "cpython_thread.h"

enum {
    CHUNKS_PASSED_MAX = 64,
    CODELESS_MAX = 16,  /* frames of one native frame whose code is gone */
    PUT_MAX = 4 * 1024, /* frames of one native frame: a quarter of a millisecond */
    STATES_MAX = 8,     /* interpreters whose code one thread runs at a time */
    POP_REGISTER = 0x58,
    POP_WIDE = 0x41,
    RETURN = 0xc3
};

/* Where a chain stands: before the frames of one native frame. */
struct place {
    uint64_t frame, cframe;
};

/* Those frames, as they were put. */
struct chunk {
    struct place next;
    uint64_t
        record; /* what the native frame holds of them; 0: the version has none, or it was not reached */
    bool believed;
};

struct walk {
    struct runtime_scan *scan;
    const uint64_t *words;
    uint32_t entry;
};

static SIGNAL_SAFE bool field(const struct walk *walk, uint64_t address, enum cpython_word word,
                              uint64_t *out)
{
    return cpython_field(walk->scan, address, walk->words[word], out);
}

static SIGNAL_SAFE bool first_place(const struct walk *walk, uint64_t state, struct place *out)
{
    uint64_t chain = walk->words[CPYTHON_CHAIN];

    *out = (struct place){ 0 };
    if (chain != CPYTHON_CHAIN_OBJECTS && chain != CPYTHON_CHAIN_SHIMS &&
        !field(walk, state, CPYTHON_THREAD_CFRAME, &out->cframe))
        return false;
    if (chain == CPYTHON_CHAIN_ENTRIES || chain == CPYTHON_CHAIN_SHIMS_OF)
        return field(walk, out->cframe, CPYTHON_CFRAME_FRAME, &out->frame);
    return field(walk, state, CPYTHON_THREAD_FRAME, &out->frame);
}

/* Which of a code's bytecodes: a free-threaded build from 3.14 on has one for each thread. */
static SIGNAL_SAFE bool bytecode_of(const struct walk *walk, uint64_t frame, uint64_t code,
                                    uint64_t *out)
{
    uint64_t list, size;
    int32_t which;

    *out = code + walk->words[CPYTHON_CODE_BYTES];
    if (walk->words[CPYTHON_FRAME_TLBC] == CPYTHON_NO_FIELD)
        return true;
    if (!guarded_read(&walk->scan->memory, &which, frame + walk->words[CPYTHON_FRAME_TLBC],
                      sizeof which))
        return false;
    if (which == 0) /* the code's own */
        return true;
    return which > 0 && field(walk, code, CPYTHON_CODE_TLBC, &list) &&
           guarded_word(&walk->scan->memory, list, &size) && (uint64_t)which < size &&
           guarded_word(&walk->scan->memory, list + 8 + (uint64_t)which * 8, out);
}

static SIGNAL_SAFE uint32_t position_of(const struct walk *walk, uint64_t frame, uint64_t code)
{
    uint64_t address = frame + walk->words[CPYTHON_FRAME_POSITION], at, bytecode,
             unit = walk->words[CPYTHON_POSITION_UNIT];
    int32_t index;

    if (unit) {
        if (!guarded_read(&walk->scan->memory, &index, address, sizeof index) || index < 0)
            return FEED_NO_POSITION;
        at = (uint64_t)index * unit;
    } else {
        if (!guarded_word(&walk->scan->memory, address, &at) ||
            !bytecode_of(walk, frame, code, &bytecode))
            return FEED_NO_POSITION;
        at -= bytecode;
    }
    return at < FEED_NO_POSITION ? (uint32_t)at : (uint32_t)FEED_NO_POSITION;
}

/* A frame of the people's own. False: it holds no code. */
static SIGNAL_SAFE bool put_frame(const struct walk *walk, uint64_t frame)
{
    uint64_t code;
    uint32_t id;

    if (!field(walk, frame, CPYTHON_FRAME_CODE, &code))
        return false;
    code &= ~UINT64_C(7); /* 3.14: a reference may be tagged */
    if (!cpython_code(walk->scan, walk->entry, code, &id))
        return false;
    runtime_put(walk->scan, id, position_of(walk, frame, code));
    if (walk->scan->wants & FEED_WANT_TASKS)
        cpython_task(walk->scan, walk->entry, frame, code);
    return true;
}

/* 3.9 and 3.10: one frame. */
static SIGNAL_SAFE struct chunk chunk_of_objects(const struct walk *walk, struct place at)
{
    struct chunk chunk = { .record = at.cframe };

    chunk.believed =
        put_frame(walk, at.frame) &&
        field(walk, at.frame, CPYTHON_FRAME_PREVIOUS, &chunk.next.frame) &&
        (!at.cframe || field(walk, at.cframe, CPYTHON_CFRAME_PREVIOUS, &chunk.next.cframe));
    return chunk;
}

/* What the _PyCFrame before this one says of the frame that called: the same as the chain, or this one is
 * not filled in yet. */
static SIGNAL_SAFE bool cframe_agrees(const struct walk *walk, uint64_t cframe, struct chunk *chunk)
{
    uint64_t caller;

    return field(walk, cframe, CPYTHON_CFRAME_PREVIOUS, &chunk->next.cframe) &&
           field(walk, chunk->next.cframe, CPYTHON_CFRAME_FRAME, &caller) &&
           caller == chunk->next.frame;
}

/* codeless: frames that were not put. */
static SIGNAL_SAFE bool goes_on(const struct walk *walk, uint64_t frame, uint32_t codeless)
{
    return frame && walk->scan->put < PUT_MAX && codeless <= CODELESS_MAX;
}

/* A recursion without end: what follows is not asked for. */
static SIGNAL_SAFE struct chunk end_of_room(const struct walk *walk)
{
    return (struct chunk){ .believed = walk->scan->put >= PUT_MAX };
}

/* 3.11: up to the one that is_entry. A frame that is being cleared may be without its code. */
static SIGNAL_SAFE struct chunk chunk_of_entries(const struct walk *walk, struct place at)
{
    struct chunk chunk = { .record = at.cframe };
    uint64_t frame = at.frame;
    uint32_t codeless = 0;
    uint8_t entry;

    while (goes_on(walk, frame, codeless)) {
        if (!field(walk, frame, CPYTHON_FRAME_PREVIOUS, &chunk.next.frame) ||
            !guarded_read(&walk->scan->memory, &entry, frame + walk->words[CPYTHON_FRAME_OWNER], 1))
            return chunk;
        codeless += !put_frame(walk, frame);
        if (entry) {
            chunk.believed = cframe_agrees(walk, at.cframe, &chunk);
            return chunk;
        }
        frame = chunk.next.frame;
    }
    return end_of_room(walk);
}

/* From 3.12 on: up to the one that has no code by nature, which lies in the native frame. */
static SIGNAL_SAFE struct chunk chunk_of_shims(const struct walk *walk, struct place at)
{
    struct chunk chunk = { 0 };
    uint64_t frame = at.frame;
    uint32_t codeless = 0;
    uint8_t owner;

    while (goes_on(walk, frame, codeless)) {
        if (!field(walk, frame, CPYTHON_FRAME_PREVIOUS, &chunk.next.frame) ||
            !guarded_read(&walk->scan->memory, &owner, frame + walk->words[CPYTHON_FRAME_OWNER], 1))
            return chunk;
        if (owner >= walk->words[CPYTHON_SHIM_OWNER]) {
            chunk.record = frame;
            chunk.believed = !at.cframe || cframe_agrees(walk, at.cframe, &chunk);
            chunk.next.cframe = 0; /* it leads to the first one only */
            return chunk;
        }
        codeless += !put_frame(walk, frame);
        frame = chunk.next.frame;
    }
    return end_of_room(walk);
}

static SIGNAL_SAFE struct chunk chunk_at(const struct walk *walk, struct place at)
{
    uint64_t chain = walk->words[CPYTHON_CHAIN];

    if (chain == CPYTHON_CHAIN_OBJECTS || chain == CPYTHON_CHAIN_CFRAMES)
        return chunk_of_objects(walk, at);
    return chain == CPYTHON_CHAIN_ENTRIES ? chunk_of_entries(walk, at) : chunk_of_shims(walk, at);
}

/* A _PyCFrame that was entered a moment ago is not filled in: what called it is whole. */
static SIGNAL_SAFE bool caller_of_unfilled(const struct walk *walk, struct place *at)
{
    return at->cframe && field(walk, at->cframe, CPYTHON_CFRAME_PREVIOUS, &at->cframe) &&
           field(walk, at->cframe, CPYTHON_CFRAME_FRAME, &at->frame);
}

/* Puts the frames whose record lies in this native frame. Passes by those of native frames that were not
 * seen, which lie further in. False: there are none, and at is where it was or at those further out. */
static SIGNAL_SAFE bool put_chunk(const struct walk *walk, struct place *at, uint64_t sp)
{
    struct runtime_scan *scan = walk->scan;
    uint64_t bytes = walk->words[CPYTHON_EVAL_BYTES];
    uint32_t before = scan->put;

    for (uint32_t passed = 0; (at->frame || at->cframe) && passed < CHUNKS_PASSED_MAX; passed++) {
        struct chunk chunk = chunk_at(walk, *at);

        if (chunk.believed && (!chunk.record || chunk.record - sp < bytes)) {
            *at = chunk.next;
            return true;
        }
        scan->put = before;
        if (chunk.believed && chunk.record > sp)
            return false;
        if (chunk.believed)
            *at = chunk.next;
        else if (!caller_of_unfilled(walk, at))
            return false;
    }
    return false;
}

/* The eval function's frame is not whole: it has left no record yet, or has taken it away. */
static SIGNAL_SAFE bool is_coming_or_going(const struct walk *walk,
                                           const struct runtime_native *native)
{
    const struct feed_runtime *runtime = &walk->scan->writer->runtimes[walk->entry];
    uint8_t code[2];

    if (!native->context)
        return false;
    if (runtime->ranges[0].what == CPYTHON_EVAL &&
        native->pc - runtime->ranges[0].start < walk->words[CPYTHON_EVAL_BEGINS])
        return true;
#ifdef __x86_64__
    if (!guarded_read(&walk->scan->memory, code, native->pc, sizeof code))
        return false;
    return code[0] == RETURN || (code[0] & 0xf8) == POP_REGISTER ||
           (code[0] == POP_WIDE && (code[1] & 0xf8) == POP_REGISTER);
#else
    (void)code;
    return false;
#endif
}

/* 3.10: the eval function takes its CFrame away first, and its frame a few instructions later. The frame that is left
 * says that it has ended: that of a caller would run. Puts it. */
static SIGNAL_SAFE bool put_without_record(const struct walk *walk, struct place *at,
                                           const struct runtime_native *native)
{
    enum { SUSPENDED = -1, RETURNED = 1, RAISED = 3 };
    int8_t state;

    if (!native->context || walk->words[CPYTHON_CHAIN] != CPYTHON_CHAIN_CFRAMES || !at->frame ||
        at->cframe - native->sp < walk->words[CPYTHON_EVAL_BYTES] ||
        !guarded_read(&walk->scan->memory, &state, at->frame + walk->words[CPYTHON_FRAME_STATE],
                      sizeof state) ||
        (state != SUSPENDED && state != RETURNED && state != RAISED))
        return false;
    return put_frame(walk, at->frame) && field(walk, at->frame, CPYTHON_FRAME_PREVIOUS, &at->frame);
}

/* Another state of this thread, whose frames these are. */
static SIGNAL_SAFE bool put_of_other_state(const struct walk *walk, struct runtime_cursor *cursor,
                                           uint64_t sp)
{
    uint64_t state = 0;
    struct place at;

    for (uint32_t tried = 0; tried < STATES_MAX; tried++) {
        state = cpython_thread_next(walk->scan, walk->entry, state);
        if (!state)
            return false;
        if (state == cursor->words[CPYTHON_AT_THREAD] || !first_place(walk, state, &at) ||
            !put_chunk(walk, &at, sp))
            continue;
        cursor->words[CPYTHON_AT_THREAD] = state;
        cursor->words[CPYTHON_AT_FRAME] = at.frame;
        cursor->words[CPYTHON_AT_CFRAME] = at.cframe;
        return true;
    }
    return false;
}

static SIGNAL_SAFE bool has_subinterpreters(const struct walk *walk)
{
    uint64_t first, next;

    return field(walk, walk->words[CPYTHON_RUNTIME], CPYTHON_INTERPRETERS, &first) && first &&
           field(walk, first, CPYTHON_INTERPRETER_NEXT, &next) && next;
}

/* Whose frames come first is seen by their records. Without any (3.9) they are those of the newest
 * interpreter that runs something: the lists begin with it. */
static SIGNAL_SAFE uint64_t first_state(const struct walk *walk)
{
    uint64_t state = 0;
    struct place at;

    if (walk->words[CPYTHON_CHAIN] != CPYTHON_CHAIN_OBJECTS || !has_subinterpreters(walk))
        return cpython_thread_state(walk->scan, walk->entry);
    for (uint32_t tried = 0; tried < STATES_MAX; tried++) {
        state = cpython_thread_next(walk->scan, walk->entry, state);
        if (!state || (first_place(walk, state, &at) && at.frame))
            return state;
    }
    return 0;
}

static SIGNAL_SAFE bool begin(const struct walk *walk, struct runtime_cursor *cursor)
{
    uint64_t state = first_state(walk);
    struct place at;

    cursor->begun = true;
    cursor->ended = !state || !first_place(walk, state, &at);
    if (cursor->ended)
        return false;
    cursor->words[CPYTHON_AT_THREAD] = state;
    cursor->words[CPYTHON_AT_FRAME] = at.frame;
    cursor->words[CPYTHON_AT_CFRAME] = at.cframe;
    return true;
}

uint32_t cpython_frames(struct runtime_scan *scan, uint32_t entry,
                        const struct runtime_native *native)
{
    const struct walk walk = { scan, scan->writer->runtimes[entry].words, entry };
    struct runtime_cursor *cursor = &scan->cursors[entry];
    struct place at;
    uint32_t before = scan->put;

    if (cursor->ended || (!cursor->begun && !begin(&walk, cursor)) ||
        is_coming_or_going(&walk, native))
        return 0;
    at = (struct place){ cursor->words[CPYTHON_AT_FRAME], cursor->words[CPYTHON_AT_CFRAME] };
    if (!put_without_record(&walk, &at, native) && !put_chunk(&walk, &at, native->sp)) {
        put_of_other_state(&walk, cursor, native->sp);
        return scan->put - before;
    }
    cursor->words[CPYTHON_AT_FRAME] = at.frame;
    cursor->words[CPYTHON_AT_CFRAME] = at.cframe;
    return scan->put - before;
}
