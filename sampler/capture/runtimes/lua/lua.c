#include "lua.h"
#include "lua_arch.h"
#include "lua_code.h"

enum {
    PUT_MAX = 4 * 1024,    /* frames of one native frame */
    PASSED_MAX = 8 * 1024, /* on the way to a call's lua_State: 50 us */
    C_CALLS_MAX = 64,      /* of C functions that call one another by Lua */
    TYPE_AT = 8,           /* in what is collected, and in a value */
};

static SIGNAL_SAFE bool is_state(struct runtime_scan *scan, uint64_t state)
{
    uint8_t type;

    return state && state % sizeof state == 0 &&
           guarded_read(&scan->memory, &type, state + TYPE_AT, sizeof type) && type == LUA_THREAD;
}

/* The lua_State that the thread ran the last time; NULL: nothing is remembered. */
static SIGNAL_SAFE _Atomic uint64_t *known_state(struct runtime_scan *scan, uint32_t entry)
{
    return scan->cache ? code_cache_state(scan->cache, scan->tid, entry) : NULL;
}

static SIGNAL_SAFE void remember_state(struct runtime_scan *scan, uint32_t entry, uint64_t state)
{
    _Atomic uint64_t *known = known_state(scan, entry);

    if (known && state && atomic_load_explicit(known, memory_order_relaxed) != state)
        atomic_store_explicit(known, state, memory_order_relaxed);
}

/* The function that its stack frame holds. */
static SIGNAL_SAFE bool is_held(struct runtime_scan *scan, const uint64_t *words,
                                const struct runtime_native *native, uint64_t function)
{
    uint64_t held;

    return guarded_word(&scan->memory, native->sp + words[LUA_FUNCTION_SLOT], &held) &&
           held == function;
}

/* A call or a return is half done: its register has the one that ends or begins. */
static SIGNAL_SAFE bool is_beside(struct runtime_scan *scan, const uint64_t *words, uint64_t kept,
                                  const struct lua_call *newest)
{
    struct lua_call call;

    return kept == newest->at || kept == newest->previous ||
           (lua_read_call(scan, words, kept, &call) && call.previous == newest->at &&
            !(call.status & (LUA_IS_C | LUA_IS_FRESH)));
}

/* Of the leaf: by its registers. It has its arguments, or has put them where it keeps them. */
static SIGNAL_SAFE bool leaf_call(struct runtime_scan *scan, uint32_t entry,
                                  const struct runtime_native *native, struct lua_call *out)
{
    const struct feed_runtime *runtime = &scan->writer->runtimes[entry];
    const bool begins =
        native->pc >= runtime->ranges[0].start && native->pc < runtime->words[LUA_ENTERED];
    struct lua_registers registers;
    uint64_t state, call;

    if (!lua_registers_of(native->context, &registers))
        return false;
    state = begins ? registers.argument : registers.state;
    if (!is_state(scan, state))
        return false;
    remember_state(scan, entry, state);
    return guarded_word(&scan->memory, state + runtime->words[LUA_STATE_CALL], &call) &&
           lua_read_call(scan, runtime->words, call, out) && out->previous &&
           !(out->status & LUA_IS_C) &&
           (begins || is_held(scan, runtime->words, native, out->function) ||
            is_beside(scan, runtime->words, registers.call, out));
}

/* What the native frame runs. */
static SIGNAL_SAFE bool native_call(struct runtime_scan *scan, uint32_t entry,
                                    const struct runtime_native *native, struct lua_call *out)
{
    const struct feed_runtime *runtime = &scan->writer->runtimes[entry];

    if (native->context)
        return leaf_call(scan, entry, native, out);
    return native->fp_known && lua_read_call(scan, runtime->words, native->fp, out) &&
           out->previous && !(out->status & LUA_IS_C) &&
           is_held(scan, runtime->words, native, out->function);
}

/* Puts C functions from there on, where they lead to that call: they were called by it. */
static SIGNAL_SAFE bool put_c_calls(struct runtime_scan *scan, uint32_t entry, uint64_t from,
                                    uint64_t to)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    struct lua_call call;
    uint64_t at = from;
    uint32_t count = 0;

    for (; at != to && count < C_CALLS_MAX; count++) {
        if (!lua_read_call(scan, words, at, &call) || !call.previous || !(call.status & LUA_IS_C))
            return false;
        at = call.previous;
    }
    if (at != to)
        return false;
    for (at = from; count; count--, at = call.previous)
        if (lua_read_call(scan, words, at, &call))
            lua_put_call(scan, entry, &call, 0);
    return true;
}

/* The lua_State that the call is of: its outermost lies in that. 0: too many are before it. */
static SIGNAL_SAFE uint64_t state_of(struct runtime_scan *scan, const uint64_t *words, uint64_t at)
{
    uint64_t previous;

    for (uint32_t passed = 0; passed < PASSED_MAX; passed++) {
        if (!guarded_word(&scan->memory, at + words[LUA_CALL_PREVIOUS], &previous))
            return 0;
        if (!previous)
            return is_state(scan, at - words[LUA_STATE_FIRST_CALL])
                       ? at - words[LUA_STATE_FIRST_CALL]
                       : 0;
        at = previous;
    }
    return 0;
}

/* The newest may wait for its native frame: of Lua always, of C where luaD_precall is the leaf. */
static SIGNAL_SAFE bool put_newest_c_calls(struct runtime_scan *scan, uint32_t entry,
                                           uint64_t state, uint64_t to)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    const bool preparing = scan->cursors[entry].words[LUA_PREPARING];
    struct lua_call call;
    uint64_t newest;

    if (!is_state(scan, state) ||
        !guarded_word(&scan->memory, state + words[LUA_STATE_CALL], &newest))
        return false;
    if (newest != to && lua_read_call(scan, words, newest, &call) &&
        (preparing || !(call.status & LUA_IS_C)))
        newest = call.previous;
    return put_c_calls(scan, entry, newest, to);
}

/* What it has called, of its lua_State: mostly the one that the thread ran the last time. */
static SIGNAL_SAFE void put_called(struct runtime_scan *scan, uint32_t entry, uint64_t to)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    _Atomic uint64_t *known = known_state(scan, entry);
    uint64_t state = known ? atomic_load_explicit(known, memory_order_relaxed) : 0;

    if (put_newest_c_calls(scan, entry, state, to))
        return;
    state = state_of(scan, words, to);
    put_newest_c_calls(scan, entry, state, to);
    remember_state(scan, entry, state);
}

/* luaV_execute keeps the next instruction in a register, and stores it only before what may fail. What it calls
 * without that leaves the register as it is. */
static SIGNAL_SAFE uint64_t leaf_instruction(const struct runtime_scan *scan)
{
    struct lua_registers registers;

    if (!scan->interrupted || !lua_registers_of(scan->interrupted, &registers))
        return 0;
    return registers.instruction;
}

/* What is behind the room is seen by its outermost alone: the others are counted. */
static SIGNAL_SAFE void put_outermost(struct runtime_scan *scan, uint32_t entry,
                                      struct runtime_cursor *cursor, struct lua_call *call)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    uint64_t last[RUNTIME_SPILL], next = 0;
    uint32_t passed = 0, from;

    for (;;) {
        last[passed++ % RUNTIME_SPILL] = call->at;
        next = call->previous;
        if (call->status & LUA_IS_FRESH || scan->put + passed >= PUT_MAX ||
            !lua_pass_call(scan, words, call) || !call->previous || call->status & LUA_IS_C)
            break;
    }
    cursor->words[LUA_AT_CALL] = next;
    from = passed < RUNTIME_SPILL ? 0 : passed - RUNTIME_SPILL;
    scan->put += from;
    for (; from < passed; from++)
        if (lua_read_call(scan, words, last[from % RUNTIME_SPILL], call))
            lua_put_call(scan, entry, call, 0);
}

/* Puts what runs in the native frame. */
static SIGNAL_SAFE void put_run(struct runtime_scan *scan, uint32_t entry,
                                struct runtime_cursor *cursor, struct lua_call *call)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    uint64_t instruction = cursor->words[LUA_BEGUN] ? 0 : leaf_instruction(scan);

    do {
        lua_put_call(scan, entry, call, instruction);
        instruction = 0;
        cursor->words[LUA_AT_CALL] = call->previous;
        if (call->status & LUA_IS_FRESH || !lua_read_call(scan, words, call->previous, call) ||
            !call->previous || call->status & LUA_IS_C)
            return;
    } while (scan->put < scan->room);
    put_outermost(scan, entry, cursor, call);
}

/* Those of a coroutine whose native frames are gone. */
static SIGNAL_SAFE void put_waiting(struct runtime_scan *scan, uint32_t entry,
                                    struct runtime_cursor *cursor)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    uint64_t at = cursor->words[LUA_AT_CALL];
    struct lua_call call;

    cursor->words[LUA_AT_CALL] = 0;
    while (scan->put < PUT_MAX && lua_read_call(scan, words, at, &call) && call.previous) {
        lua_put_call(scan, entry, &call, 0);
        at = call.previous;
    }
}

static SIGNAL_SAFE enum lua_range range_of(const struct feed_runtime *runtime, uint64_t pc)
{
    for (uint32_t i = 0; i < runtime->range_count && i < FEED_RUNTIME_RANGES_MAX; i++)
        if (pc >= runtime->ranges[i].start && pc < runtime->ranges[i].end)
            return (enum lua_range)runtime->ranges[i].what;
    return LUA_CALLS;
}

uint32_t lua_frames(struct runtime_scan *scan, uint32_t entry, const struct runtime_native *native)
{
    const struct feed_runtime *runtime = &scan->writer->runtimes[entry];
    struct runtime_cursor *cursor = &scan->cursors[entry];
    const enum lua_range range = range_of(runtime, native->pc);
    const uint64_t before = cursor->words[LUA_AT_CALL];
    struct lua_call call;

    if (native->context)
        cursor->words[LUA_PREPARING] = range == LUA_CALLS;
    if (range == LUA_RESUMES)
        put_waiting(scan, entry, cursor);
    if (range != LUA_EXECUTES || !native_call(scan, entry, native, &call))
        return scan->put;
    if (!native->context && (!before || !put_c_calls(scan, entry, before, call.at)))
        put_called(scan, entry, call.at);
    put_run(scan, entry, cursor, &call);
    cursor->words[LUA_BEGUN] = 1;
    cursor->words[LUA_PREPARING] = 0;
    return scan->put;
}
