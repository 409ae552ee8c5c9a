#include "php.h"
#include "php_code.h"

enum {
    PUT_MAX = 4 * 1024, /* frames of one native frame */
    PASSED_MAX = 64 * 1024,
    TOP = 1 << 17,
    GENERATOR = 1 << 24,
};

struct frame {
    uint64_t function, opcode, previous;
    uint32_t flags;
};

static SIGNAL_SAFE bool read_frame(struct runtime_scan *scan, const uint64_t *words, uint64_t at,
                                   struct frame *out)
{
    return guarded_word(&scan->memory, at, &out->opcode) &&
           guarded_word(&scan->memory, at + words[PHP_FRAME_FUNCTION], &out->function) &&
           guarded_word(&scan->memory, at + words[PHP_FRAME_PREVIOUS], &out->previous) &&
           guarded_read(&scan->memory, &out->flags, at + words[PHP_FRAME_FLAGS], sizeof out->flags);
}

/* The executor holds frame and opcode in registers, where the compiler is GNU's and the machine x86-64. */
static SIGNAL_SAFE void read_registers(const struct runtime_native *native, uint64_t *frame,
                                       uint64_t *opcode)
{
    *frame = *opcode = 0;
#ifdef __x86_64__
    if (native->context) {
        *frame = (uint64_t)native->context->uc_mcontext.gregs[REG_R14];
        *opcode = (uint64_t)native->context->uc_mcontext.gregs[REG_R15];
    }
#else
    (void)native;
#endif
}

/* The frame that execute_ex was entered with is taken from the chain a moment before it returns. */
static SIGNAL_SAFE uint64_t leaving_frame(struct runtime_scan *scan, const uint64_t *words,
                                          uint64_t newest, uint64_t held)
{
    struct frame frame;

    return held != newest && read_frame(scan, words, held, &frame) && frame.flags & TOP &&
                   frame.previous == newest
               ? held
               : newest;
}

static SIGNAL_SAFE bool begin(struct runtime_scan *scan, uint32_t entry,
                              struct runtime_cursor *cursor, uint64_t held)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    uint64_t newest;

    cursor->begun = true;
    cursor->ended = !guarded_word(&scan->memory, words[PHP_CURRENT], &newest);
    if (!cursor->ended)
        cursor->words[PHP_AT_FRAME] = held ? leaving_frame(scan, words, newest, held) : newest;
    return !cursor->ended;
}

/* The newest frame waits for an execute_ex that is not entered yet; a generator's may have left it. */
static SIGNAL_SAFE void pass_waiting(struct runtime_scan *scan, const uint64_t *words,
                                     struct runtime_cursor *cursor)
{
    const uint64_t newest = cursor->words[PHP_AT_FRAME];
    uint32_t arguments;
    uint64_t opcodes;
    struct frame frame;

    if (!read_frame(scan, words, newest, &frame) || !(frame.flags & TOP) ||
        !php_opcodes(scan, words, frame.function, &opcodes) ||
        !guarded_read(&scan->memory, &arguments, newest + words[PHP_FRAME_ARGUMENTS],
                      sizeof arguments))
        return;
    /* What receives arguments is passed by where they have no types. */
    if (frame.flags & GENERATOR ||
        frame.opcode - opcodes <= (uint64_t)arguments * words[PHP_OPCODE_BYTES])
        cursor->words[PHP_AT_FRAME] = frame.previous;
}

static SIGNAL_SAFE enum php_range range_of(const struct feed_runtime *runtime, uint64_t pc)
{
    for (uint32_t i = 0; i < runtime->range_count && i < FEED_RUNTIME_RANGES_MAX; i++)
        if (pc >= runtime->ranges[i].start && pc < runtime->ranges[i].end)
            return (enum php_range)runtime->ranges[i].what;
    return PHP_EXECUTES;
}

/* Which stand between frames of functions, and lead on: of fibers and generators. */
static SIGNAL_SAFE bool is_fake(const struct frame *frame)
{
    return !frame->function;
}

uint32_t php_frames(struct runtime_scan *scan, uint32_t entry, const struct runtime_native *native)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    struct runtime_cursor *cursor = &scan->cursors[entry];
    const bool enters = range_of(&scan->writer->runtimes[entry], native->pc) == PHP_ENTERS;
    uint64_t held = 0, opcode = 0;
    uint32_t before = scan->put;
    struct frame frame;

    if (enters && cursor->begun)
        return 0;
    if (!enters)
        read_registers(native, &held, &opcode);
    if (cursor->ended || (!cursor->begun && !begin(scan, entry, cursor, held)))
        return 0;
    if (enters) {
        pass_waiting(scan, words, cursor);
        return 0;
    }
    for (uint32_t passed = 0; passed < PASSED_MAX; passed++) {
        cursor->ended = !cursor->words[PHP_AT_FRAME] || scan->put - before >= PUT_MAX ||
                        !read_frame(scan, words, cursor->words[PHP_AT_FRAME], &frame);
        if (cursor->ended)
            break;
        cursor->words[PHP_AT_FRAME] = frame.previous;
        if (is_fake(&frame))
            continue;
        const struct php_code code = { frame.function, frame.opcode, opcode, !frame.previous };
        const uint8_t type = php_put_code(scan, entry, &code);

        opcode = 0;
        cursor->ended = !type;
        if (!type || (type != PHP_INTERNAL && frame.flags & TOP))
            break;
    }
    return scan->put - before;
}
