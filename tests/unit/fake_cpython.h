/*
 * fake_cpython.h - the memory of a CPython that is not there: its structures, as a version lays them out.
 *
 *     CLEANUP(fake_cpython_close) struct fake_cpython python;
 *     fake_cpython_open(&python, version, debug);
 *     state = fake_state(&python, interpreter);
 *     fake_enter(&python, state, NATIVE(2));
 *     fake_call(&python, state, fake_code(&python, "f", "a.py", 7), 4);
 *     names = fake_frames(&python, NATIVE(2));
 *
 * Native frames have NATIVE_BYTES each of a stack of their own; NATIVE(1) is further in than NATIVE(2).
 */
#ifndef FAKE_CPYTHON_H
#define FAKE_CPYTHON_H

#include "fake_feed.h"

#include "sampler/capture/runtimes/cpython/cpython.h"
#include "sampler/feed/feed_reader.h"
#include "sampler/profile/runtimes/cpython_layouts.h"

enum {
    FAKE_BYTES = 1 << 18,
    NATIVE_BYTES = 256,
    NATIVE_RECORD = 64,
    FAKE_TID = 77,
    FAKE_ROOM = 64
};

struct fake_cpython {
    struct fake_feed feed;
    struct feed_reader *reader;
    struct feed_runtime runtime;
    uint8_t *bytes;
    uint64_t used;
    uint64_t native; /* the lowest address of native frames */
    struct runtime_scan scan;
    struct runtime_texts texts;
    struct code_cache cache;
    uint64_t frames[FAKE_ROOM];
    char names[1024];
};

#define NATIVE(python, n) ((python)->native + (n) * (uint64_t)NATIVE_BYTES)

static inline uint64_t fake_new(struct fake_cpython *python, uint64_t bytes)
{
    uint64_t address = (uint64_t)&python->bytes[python->used];

    python->used += (bytes + 15) & ~UINT64_C(15);
    if (python->used > FAKE_BYTES)
        abort();
    return address;
}

static inline uint64_t fake_word(const struct fake_cpython *python, enum cpython_word word)
{
    return python->runtime.words[word];
}

static inline bool fake_has(const struct fake_cpython *python, enum cpython_word word)
{
    return fake_word(python, word) != CPYTHON_NO_FIELD;
}

static inline uint64_t fake_get(uint64_t address)
{
    uint64_t value;

    memcpy(&value, (void *)address, sizeof(value));
    return value;
}

static inline void fake_put(struct fake_cpython *python, uint64_t object, enum cpython_word word,
                            uint64_t value, size_t bytes)
{
    if (fake_has(python, word))
        memcpy((void *)(object + fake_word(python, word)), &value, bytes);
}

/* Bytes of unit size each; kind and flags as PyASCIIObject has them. */
static inline uint64_t fake_string(struct fake_cpython *python, const void *text, uint64_t length,
                                   uint32_t unit, bool ascii)
{
    uint64_t string = fake_new(python, 128 + length * unit);
    uint32_t state = unit | 1u << 3 | (uint32_t)ascii << 4;

    fake_put(python, string, CPYTHON_STRING_LENGTH, length, 8);
    fake_put(python, string, CPYTHON_STRING_HASH, length * 31, 8);
    fake_put(python, string, CPYTHON_STRING_STATE,
             (uint64_t)state << fake_word(python, CPYTHON_STRING_SHIFT), 4);
    memcpy(
        (void *)(string + fake_word(python, ascii ? CPYTHON_STRING_ASCII : CPYTHON_STRING_OTHER)),
        text, length * unit);
    return string;
}

static inline uint64_t fake_code_named(struct fake_cpython *python, uint64_t name, const char *file,
                                       uint32_t first_line)
{
    static const uint8_t table[] = { 0x80, 0, 0x81, 0, 0x82, 0, 0x83, 0, 0x84, 0 };
    uint64_t code = fake_new(python, 512), lines = fake_new(python, 64 + sizeof(table));

    fake_put(python, lines, CPYTHON_BYTES_SIZE, sizeof(table), 8);
    memcpy((void *)(lines + fake_word(python, CPYTHON_BYTES_DATA)), table, sizeof(table));
    fake_put(python, code, CPYTHON_OBJECT_TYPE, fake_word(python, CPYTHON_CODE_TYPE), 8);
    fake_put(python, code, CPYTHON_CODE_NAME, name, 8);
    fake_put(python, code, CPYTHON_CODE_FILE, fake_string(python, file, strlen(file), 1, true), 8);
    fake_put(python, code, CPYTHON_CODE_FIRST_LINE, first_line, 4);
    fake_put(python, code, CPYTHON_CODE_LINES, lines, 8);
    return code;
}

static inline uint64_t fake_code(struct fake_cpython *python, const char *name, const char *file,
                                 uint32_t first_line)
{
    return fake_code_named(python, fake_string(python, name, strlen(name), 1, true), file,
                           first_line);
}

static inline uint64_t fake_interpreter(struct fake_cpython *python)
{
    uint64_t interpreter = fake_new(python, 8192), runtime = fake_word(python, CPYTHON_RUNTIME);

    fake_put(python, interpreter, CPYTHON_INTERPRETER_NEXT,
             fake_get(runtime + fake_word(python, CPYTHON_INTERPRETERS)), 8);
    fake_put(python, runtime, CPYTHON_INTERPRETERS, interpreter, 8);
    return interpreter;
}

/* Of the thread with this pointer and number. */
static inline uint64_t fake_state(struct fake_cpython *python, uint64_t interpreter,
                                  uint64_t pointer, uint64_t tid)
{
    uint64_t state = fake_new(python, 512),
             head = fake_get(interpreter + fake_word(python, CPYTHON_INTERPRETER_THREADS));

    fake_put(python, state, CPYTHON_THREAD_NEXT, head, 8);
    if (head)
        fake_put(python, head, CPYTHON_THREAD_PREVIOUS, state, 8);
    fake_put(python, interpreter, CPYTHON_INTERPRETER_THREADS, state, 8);
    fake_put(python, state, CPYTHON_THREAD_INTERPRETER, interpreter, 8);
    fake_put(python, state, CPYTHON_THREAD_ID, pointer, 8);
    fake_put(python, state, CPYTHON_THREAD_NATIVE_ID, tid, 8);
    /* The record that is there before any native frame's. */
    fake_put(python, state, CPYTHON_THREAD_CFRAME, fake_new(python, 64), 8);
    return state;
}

/* Where the newest frame stands. */
static inline uint64_t fake_newest(struct fake_cpython *python, uint64_t state, uint64_t *object,
                                   enum cpython_word *word)
{
    *object = state;
    *word = CPYTHON_THREAD_FRAME;
    if (fake_has(python, CPYTHON_CFRAME_FRAME)) {
        *object = fake_get(state + fake_word(python, CPYTHON_THREAD_CFRAME));
        *word = CPYTHON_CFRAME_FRAME;
    }
    return fake_get(*object + fake_word(python, *word));
}

static inline void fake_push(struct fake_cpython *python, uint64_t state, uint64_t frame)
{
    enum cpython_word word;
    uint64_t object, newest = fake_newest(python, state, &object, &word);

    fake_put(python, frame, CPYTHON_FRAME_PREVIOUS, newest, 8);
    fake_put(python, object, word, frame, 8);
}

/* The eval function begins, in this native frame: what it leaves there. */
static inline void fake_enter(struct fake_cpython *python, uint64_t state, uint64_t native)
{
    uint64_t record = native + NATIVE_RECORD, object, newest;
    enum cpython_word word;

    if (fake_has(python, CPYTHON_THREAD_CFRAME)) {
        newest = fake_newest(python, state, &object, &word);
        fake_put(python, record, CPYTHON_CFRAME_PREVIOUS,
                 fake_get(state + fake_word(python, CPYTHON_THREAD_CFRAME)), 8);
        fake_put(python, record, CPYTHON_CFRAME_FRAME, newest, 8);
        fake_put(python, state, CPYTHON_THREAD_CFRAME, record, 8);
    }
    if (fake_word(python, CPYTHON_CHAIN) >= CPYTHON_CHAIN_SHIMS_OF) {
        record += 32;
        fake_put(python, record, CPYTHON_FRAME_OWNER, fake_word(python, CPYTHON_SHIM_OWNER), 1);
        fake_push(python, state, record);
    }
}

/* A Python frame, in whatever native frame was entered. entry: the first one there. */
static inline uint64_t fake_call(struct fake_cpython *python, uint64_t state, uint64_t code,
                                 uint32_t position, bool entry)
{
    uint64_t frame = fake_new(python, 256), unit = fake_word(python, CPYTHON_POSITION_UNIT);

    fake_put(python, frame, CPYTHON_FRAME_CODE, code, 8);
    fake_put(python, frame, CPYTHON_FRAME_POSITION,
             unit ? position / unit : code + fake_word(python, CPYTHON_CODE_BYTES) + position,
             unit ? 4 : 8);
    if (fake_word(python, CPYTHON_CHAIN) == CPYTHON_CHAIN_ENTRIES)
        fake_put(python, frame, CPYTHON_FRAME_OWNER, entry, 1);
    fake_push(python, state, frame);
    return frame;
}

static inline void fake_cpython_open(struct fake_cpython *python, uint32_t version,
                                     const uint64_t *debug)
{
    memset(python, 0, sizeof(*python));
    fake_feed_open(&python->feed, getpid());
    if (feed_reader_open(&python->reader, fake_feed_memfd(&python->feed)) < 0)
        abort();
    python->bytes = aligned_alloc(4096, FAKE_BYTES);
    memset(python->bytes, 0, FAKE_BYTES);
    python->runtime.kind = FEED_RUNTIME_CPYTHON;
    python->runtime.version = version;
    python->runtime.range_count = 1;
    python->runtime.ranges[0] = (struct feed_runtime_range){ .start = 0x1000, .end = 0x2000 };
    if (cpython_layout(version, debug, python->runtime.words))
        abort();
    python->runtime.words[CPYTHON_RUNTIME] = fake_new(python, 2048);
    python->runtime.words[CPYTHON_CODE_TYPE] = fake_new(python, 64);
    python->runtime.words[CPYTHON_EVAL_BYTES] = NATIVE_BYTES;
    python->runtime.words[CPYTHON_EVAL_BEGINS] = 16;
    python->native = fake_new(python, 16 * NATIVE_BYTES);
    if (!feed_reader_runtime(python->reader, &python->runtime))
        abort();
}

static inline void fake_cpython_close(struct fake_cpython *python)
{
    feed_reader_free(python->reader);
    fake_feed_close(&python->feed);
    memset(python->bytes, 0, FAKE_BYTES); /* what was remembered of it is there no more */
    free(python->bytes);
}

/* A stack begins. */
static inline void fake_begin(struct fake_cpython *python, uint64_t pointer)
{
    python->scan = (struct runtime_scan){ .writer = &python->feed.writer,
                                          .cache = &python->cache,
                                          .texts = &python->texts,
                                          .tid = FAKE_TID,
                                          .thread_pointer = pointer,
                                          .wants = FEED_WANT_RUNTIMES };
    guarded_memory_begin(&python->scan.memory, NULL, false);
    runtime_scan_begin(&python->scan);
    python->scan.frames = python->frames;
    python->scan.room = FAKE_ROOM;
}

static inline const char *fake_frames_of(struct fake_cpython *python,
                                         const struct runtime_native *native)
{
    uint32_t count = runtime_scan_frames(&python->scan, native), used = 0;
    static uint8_t buffer[FEED_CODE_BYTES_MAX];
    struct feed_code_text text;

    python->names[0] = 0;
    for (uint32_t i = 0; i < count && i < FAKE_ROOM && used < 900; i++) {
        if (!feed_reader_code(python->reader, FEED_FRAME_CODE_ID(python->frames[i]), buffer, &text))
            return "no such code";
        used += (uint32_t)snprintf(&python->names[used], sizeof(python->names) - used, "%s%.*s:%d",
                                   i ? " " : "", (int)text.name_bytes, text.name,
                                   (int)FEED_FRAME_CODE_POSITION(python->frames[i]));
    }
    return python->names;
}

/* "f:4 g:12", innermost first: names and positions of what this native frame stands for. */
static inline const char *fake_frames(struct fake_cpython *python, uint64_t native)
{
    const struct runtime_native at = { .pc = 0x1100, .sp = native };

    return fake_frames_of(python, &at);
}

/* The same of a leaf, in the middle of the eval function. */
static inline const char *fake_leaf_frames(struct fake_cpython *python, uint64_t native)
{
    static const ucontext_t registers;
    const struct runtime_native at = { .pc = 0x1100, .sp = native, .context = &registers };

    return fake_frames_of(python, &at);
}

#endif
