#include "perl.h"
#include "perl_code.h"

enum {
    PUT_MAX = 4 * 1024, /* frames of one native frame */
    PASSED_MAX = 64 * 1024,
    CONTEXT_TYPE = 0xf,
    CONTEXT_SUB = 9,
    CONTEXT_FORMAT = 10,
    CONTEXT_EVAL = 11,
    EVAL_BLOCK = 0x40, /* eval {}: no code of its own */
    EVAL_OP_SHIFT = 7,
    /* glibc: the first keys' values lie in the thread's descriptor. */
    KEYS_AT = 0x310,
    KEYS_MAX = 32,
    KEY_BYTES = 16,
};

struct context {
    uint8_t type;
    uint16_t eval_op;
    uint64_t caller, returns_to, code;
};

static SIGNAL_SAFE bool word_at(struct runtime_scan *scan, uint64_t address, uint64_t offset,
                                uint64_t *out)
{
    return guarded_word(&scan->memory, address + offset, out);
}

/* With threads each has one, by a key; the one that PL_curinterp tells may be any's. */
static SIGNAL_SAFE uint64_t interpreter_of(struct runtime_scan *scan, const uint64_t *words)
{
    uint64_t interpreter;
    uint32_t key;

#ifdef __x86_64__
    if (scan->thread_pointer && guarded_read(&scan->memory, &key, words[PERL_KEY], sizeof key) &&
        key < KEYS_MAX &&
        word_at(scan, scan->thread_pointer, KEYS_AT + key * KEY_BYTES + sizeof interpreter,
                &interpreter))
        return interpreter;
#else
    (void)key;
#endif
    return guarded_word(&scan->memory, words[PERL_INTERPRETER], &interpreter) ? interpreter : 0;
}

static SIGNAL_SAFE bool to_stack(struct runtime_scan *scan, const uint64_t *words,
                                 struct runtime_cursor *cursor, uint64_t stack)
{
    int32_t newest = -1;

    cursor->words[PERL_AT_STACK] = stack;
    if (stack &&
        !guarded_read(&scan->memory, &newest, stack + words[PERL_STACK_NEWEST], sizeof newest))
        return false;
    cursor->words[PERL_AT_INDEX] = newest < 0 ? 0 : (uint64_t)newest + 1;
    return true;
}

static SIGNAL_SAFE bool begin(struct runtime_scan *scan, uint32_t entry,
                              struct runtime_cursor *cursor)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    uint64_t interpreter = interpreter_of(scan, words), stack;

    cursor->begun = true;
    cursor->words[PERL_AT_INTERPRETER] = interpreter;
    cursor->ended =
        !interpreter || !word_at(scan, interpreter, words[PERL_STACK_INFO], &stack) ||
        !word_at(scan, interpreter, words[PERL_STATEMENT], &cursor->words[PERL_AT_STATEMENT]) ||
        !to_stack(scan, words, cursor, stack);
    return !cursor->ended;
}

/* The next one, which stays. False: there is none, or it cannot be read. */
static SIGNAL_SAFE bool read_context(struct runtime_scan *scan, const uint64_t *words,
                                     const struct runtime_cursor *cursor, struct context *out)
{
    uint64_t contexts, at;

    if (!cursor->words[PERL_AT_INDEX] ||
        !word_at(scan, cursor->words[PERL_AT_STACK], words[PERL_STACK_CONTEXTS], &contexts))
        return false;
    at = contexts + (cursor->words[PERL_AT_INDEX] - 1) * words[PERL_CONTEXT_BYTES];
    return guarded_read(&scan->memory, &out->type, at, sizeof out->type) &&
           guarded_read(&scan->memory, &out->eval_op, at + words[PERL_CONTEXT_EVAL_OP],
                        sizeof out->eval_op) &&
           word_at(scan, at, words[PERL_CONTEXT_CALLER], &out->caller) &&
           word_at(scan, at, words[PERL_CONTEXT_RETURNS_TO], &out->returns_to) &&
           word_at(scan, at,
                   words[(out->type & CONTEXT_TYPE) == CONTEXT_EVAL ? PERL_CONTEXT_EVAL_CODE
                                                                    : PERL_CONTEXT_CODE],
                   &out->code);
}

/* Returns whether the loop was entered with it. */
static SIGNAL_SAFE bool put_context(struct runtime_scan *scan, uint32_t entry,
                                    struct runtime_cursor *cursor, const struct context *context)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    uint64_t *statement = &cursor->words[PERL_AT_STATEMENT];
    uint8_t type = context->type & CONTEXT_TYPE;

    if (type == CONTEXT_SUB || type == CONTEXT_FORMAT)
        perl_put_sub(scan, entry, context->code, *statement);
    else if (type == CONTEXT_EVAL && !(context->type & EVAL_BLOCK))
        perl_put_eval(scan, entry, context->eval_op >> EVAL_OP_SHIFT == words[PERL_OP_REQUIRE],
                      context->code, *statement);
    else
        return false;
    *statement = context->caller;
    return type != CONTEXT_EVAL && !context->returns_to;
}

/* Those of stacks that were left for this one follow. False: that was all. */
static SIGNAL_SAFE bool to_next_stack(struct runtime_scan *scan, const uint64_t *words,
                                      struct runtime_cursor *cursor)
{
    uint64_t previous;

    return word_at(scan, cursor->words[PERL_AT_STACK], words[PERL_STACK_PREVIOUS], &previous) &&
           previous && to_stack(scan, words, cursor, previous);
}

static SIGNAL_SAFE void put_frames(struct runtime_scan *scan, uint32_t entry,
                                   struct runtime_cursor *cursor)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    struct context context;

    for (uint32_t passed = 0; passed < PASSED_MAX && scan->put < PUT_MAX; passed++) {
        if (!cursor->words[PERL_AT_INDEX]) {
            if (to_next_stack(scan, words, cursor))
                continue;
            perl_put_program(scan, entry, cursor->words[PERL_AT_INTERPRETER],
                             cursor->words[PERL_AT_STATEMENT]);
            cursor->ended = true;
            return;
        }
        if (!read_context(scan, words, cursor, &context))
            break;
        cursor->words[PERL_AT_INDEX]--;
        if (put_context(scan, entry, cursor, &context))
            return;
    }
    cursor->ended = true;
}

static SIGNAL_SAFE enum perl_range range_of(const struct feed_runtime *runtime, uint64_t pc)
{
    for (uint32_t i = 0; i < runtime->range_count && i < FEED_RUNTIME_RANGES_MAX; i++)
        if (pc >= runtime->ranges[i].start && pc < runtime->ranges[i].end)
            return (enum perl_range)runtime->ranges[i].what;
    return PERL_LOOP;
}

/* Ops of eval and require run a loop of their own where no loop around could go on after an exception; and
 * they compile, which runs BEGIN: then their own context is the next. */
static SIGNAL_SAFE bool is_same_run(struct runtime_scan *scan, const uint64_t *words,
                                    const struct runtime_cursor *cursor)
{
    struct context context;

    return cursor->words[PERL_LOOPED] && !(read_context(scan, words, cursor, &context) &&
                                           (context.type & CONTEXT_TYPE) == CONTEXT_EVAL);
}

uint32_t perl_frames(struct runtime_scan *scan, uint32_t entry, const struct runtime_native *native)
{
    const struct feed_runtime *runtime = &scan->writer->runtimes[entry];
    struct runtime_cursor *cursor = &scan->cursors[entry];
    uint32_t before = scan->put;

    if (cursor->ended || (!cursor->begun && !begin(scan, entry, cursor)))
        return 0;
    if (range_of(runtime, native->pc) == PERL_CATCH) {
        cursor->words[PERL_SERVED] = is_same_run(scan, runtime->words, cursor);
        cursor->words[PERL_LOOPED] = 0;
        return 0;
    }
    if (!cursor->words[PERL_SERVED]) {
        put_frames(scan, entry, cursor);
        cursor->words[PERL_LOOPED] = 1;
    }
    cursor->words[PERL_SERVED] = 0;
    return scan->put - before;
}
