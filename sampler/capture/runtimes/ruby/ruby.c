#include "ruby.h"
#include "ruby_code.h"
#include "ruby_objects.h"
#include "ruby_thread.h"

enum {
    PUT_MAX = 4 * 1024, /* frames of one native frame */
    SKIPPED_MAX = 64 * 1024,
    ENVIRONMENTS_MAX = 64, /* that a block's lies in */
    /* Of an environment's flags. */
    LOCAL = 0x0002,
    FINISH = 0x0020,
    MAGIC = 0x7fff0001,
    MAGIC_METHOD = 0x11110001,
    MAGIC_BLOCK = 0x22220001,
    MAGIC_CLASS = 0x33330001,
    MAGIC_TOP = 0x44440001,
    MAGIC_CFUNC = 0x55550001,
    MAGIC_IFUNC = 0x66660001,
    MAGIC_EVAL = 0x77770001,
    MAGIC_RESCUE = 0x78880001,
    MAGIC_DUMMY = 0x79990001,
};

struct control_frame {
    uint64_t pc, sp, iseq, self, environment;
};

/* What lies at an environment, and before it. */
struct environment {
    uint64_t method, outer, flags;
};

static SIGNAL_SAFE bool read_environment(struct runtime_scan *scan, uint64_t at,
                                         struct environment *out)
{
    return guarded_read(&scan->memory, out, at - 2 * sizeof(uint64_t), sizeof *out);
}

/* Who owns the method whose body, or whose block, it is; 0: it is in none. */
static SIGNAL_SAFE uint64_t owner_of(struct runtime_scan *scan, struct environment environment)
{
    struct ruby_method method;

    for (uint32_t passed = 0; passed < ENVIRONMENTS_MAX; passed++) {
        if (environment.method && ruby_method(scan, environment.method, &method))
            return method.owner;
        if (environment.flags & LOCAL)
            return 0;
        if (!read_environment(scan, environment.outer & ~UINT64_C(3), &environment))
            return 0;
    }
    return 0;
}

static SIGNAL_SAFE bool runs_iseq(uint64_t magic)
{
    return magic == MAGIC_METHOD || magic == MAGIC_BLOCK || magic == MAGIC_CLASS ||
           magic == MAGIC_TOP || magic == MAGIC_EVAL || magic == MAGIC_RESCUE;
}

static SIGNAL_SAFE bool read_frame(struct runtime_scan *scan, uint64_t at,
                                   struct control_frame *frame, struct environment *environment)
{
    return guarded_read(&scan->memory, frame, at, sizeof *frame) &&
           read_environment(scan, frame->environment, environment);
}

/* pc: of the loop's own register, which runs ahead of the frame's; 0: not known. False: it is no frame. */
static SIGNAL_SAFE bool put_frame(struct runtime_scan *scan, uint32_t entry, uint64_t at,
                                  uint64_t pc, bool *last)
{
    struct control_frame frame;
    struct environment environment;
    uint64_t magic;

    if (!read_frame(scan, at, &frame, &environment))
        return false;
    magic = environment.flags & MAGIC;
    *last = environment.flags & FINISH;
    if (runs_iseq(magic)) {
        struct ruby_code code = { frame.iseq, owner_of(scan, environment), frame.pc, pc };

        ruby_put_code(scan, entry, &code);
        return true;
    }
    if (magic == MAGIC_CFUNC)
        ruby_put_cfunc(scan, entry, environment.method);
    return magic == MAGIC_CFUNC || magic == MAGIC_IFUNC || magic == MAGIC_DUMMY;
}

static SIGNAL_SAFE bool begin(struct runtime_scan *scan, uint32_t entry,
                              struct runtime_cursor *cursor)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    uint64_t ec = ruby_thread_ec(scan, entry), stack, size;

    cursor->begun = true;
    cursor->ended =
        !ec || !guarded_word(&scan->memory, ec + words[RUBY_EC_STACK], &stack) ||
        !guarded_word(&scan->memory, ec + words[RUBY_EC_STACK_WORDS], &size) ||
        !guarded_word(&scan->memory, ec + words[RUBY_EC_FRAME], &cursor->words[RUBY_AT_FRAME]);
    if (!cursor->ended)
        cursor->words[RUBY_END] = stack + size * sizeof(uint64_t);
    return !cursor->ended;
}

static SIGNAL_SAFE enum ruby_range range_of(const struct feed_runtime *runtime, uint64_t pc)
{
    for (uint32_t i = 0; i < runtime->range_count && i < FEED_RUNTIME_RANGES_MAX; i++)
        if (pc >= runtime->ranges[i].start && pc < runtime->ranges[i].end)
            return (enum ruby_range)runtime->ranges[i].what;
    return RUBY_EXEC;
}

/* What the loop holds in registers, where the compiler is GNU's and the machine x86-64. */
struct registers {
    uint64_t pc, frame; /* 0: not known */
};

static SIGNAL_SAFE struct registers read_registers(const struct runtime_native *native,
                                                   enum ruby_range range)
{
    struct registers registers = { 0 };

#ifdef __x86_64__
    if (native->context && range == RUBY_LOOP) {
        registers.pc = (uint64_t)native->context->uc_mcontext.gregs[REG_R14];
        registers.frame = (uint64_t)native->context->uc_mcontext.gregs[REG_R15];
    }
#else
    (void)native;
    (void)range;
#endif
    return registers;
}

/* The interpreter itself is interrupted, and has given up the frame that it was entered with: what runs C
 * or nothing is not its own, and a frame that was the last one is gone when the next one is the newest. */
static SIGNAL_SAFE bool is_leaving(struct runtime_scan *scan, const uint64_t *words,
                                   uint64_t newest, uint64_t held)
{
    struct control_frame frame;
    struct environment environment;

    if (!read_frame(scan, newest, &frame, &environment) || !runs_iseq(environment.flags & MAGIC))
        return true;
    return held + words[RUBY_FRAME_BYTES] == newest &&
           read_frame(scan, held, &frame, &environment) && environment.flags & FINISH;
}

/* The newest frame waits for an interpreter that is not entered yet: what runs calls from a loop further
 * out. Each instruction stores where the next one is before it calls anything. */
static SIGNAL_SAFE bool is_coming(struct runtime_scan *scan, const uint64_t *words, uint64_t newest)
{
    struct control_frame frame;
    struct environment environment;

    return read_frame(scan, newest, &frame, &environment) && environment.flags & FINISH &&
           runs_iseq(environment.flags & MAGIC) &&
           ruby_is_at_start(scan, words, frame.iseq, frame.pc);
}

/* Frames and native frames change one after the other. False: this native frame has no frames. */
static SIGNAL_SAFE bool is_joined(struct runtime_scan *scan, const uint64_t *words,
                                  struct runtime_cursor *cursor,
                                  const struct runtime_native *native, enum ruby_range range)
{
    const uint64_t newest = cursor->words[RUBY_AT_FRAME];

    if (native->context)
        return !is_leaving(scan, words, newest, read_registers(native, range).frame);
    if (range == RUBY_LOOP && is_coming(scan, words, newest))
        cursor->words[RUBY_AT_FRAME] = newest + words[RUBY_FRAME_BYTES];
    return true;
}

static SIGNAL_SAFE void put_frames(struct runtime_scan *scan, uint32_t entry,
                                   struct runtime_cursor *cursor, uint64_t pc)
{
    const uint64_t bytes = scan->writer->runtimes[entry].words[RUBY_FRAME_BYTES];
    bool last = false;

    for (uint32_t passed = 0; passed < SKIPPED_MAX && !last; passed++) {
        const uint64_t at = cursor->words[RUBY_AT_FRAME];

        cursor->ended = at >= cursor->words[RUBY_END] || scan->put >= PUT_MAX ||
                        !put_frame(scan, entry, at, pc, &last);
        if (cursor->ended)
            return;
        cursor->words[RUBY_AT_FRAME] = at + bytes;
        pc = 0;
    }
}

uint32_t ruby_frames(struct runtime_scan *scan, uint32_t entry, const struct runtime_native *native)
{
    struct runtime_cursor *cursor = &scan->cursors[entry];
    const struct feed_runtime *runtime = &scan->writer->runtimes[entry];
    const enum ruby_range range = range_of(runtime, native->pc);
    const bool first = !cursor->begun;
    uint32_t before = scan->put;

    if (range == RUBY_EXEC && cursor->words[RUBY_SERVED]) {
        cursor->words[RUBY_SERVED] = 0;
        return 0;
    }
    if (cursor->ended || (!cursor->begun && !begin(scan, entry, cursor)))
        return 0;
    cursor->words[RUBY_SERVED] = range == RUBY_LOOP;
    if (!first || is_joined(scan, runtime->words, cursor, native, range))
        put_frames(scan, entry, cursor, read_registers(native, range).pc);
    return scan->put - before;
}
