#include "cpython_layouts.h"

#include <string.h>

enum { MINOR_FIRST = 9, MINOR_DEBUG = 13, MINOR_LAST = 14, NONE = -1 };

/* Word, and its value in 3.9, 3.10, 3.11, 3.12. */
#define LAYOUTS(X)                                                                                 \
    X(CHAIN, CPYTHON_CHAIN_OBJECTS, CPYTHON_CHAIN_CFRAMES, CPYTHON_CHAIN_ENTRIES,                  \
      CPYTHON_CHAIN_SHIMS_OF)                                                                      \
    X(LINES, FEED_LINES_CPYTHON_39, FEED_LINES_CPYTHON_310, FEED_LINES_CPYTHON_311,                \
      FEED_LINES_CPYTHON_311)                                                                      \
    X(POSITION_UNIT, 1, 2, 0, 0)                                                                   \
    X(SHIM_OWNER, 0, 0, 0, 3)                                                                      \
    X(STRING_SHIFT, 2, 2, 2, 2)                                                                    \
    X(INTERPRETERS, 32, 32, 40, 40)                                                                \
    X(INTERPRETER_NEXT, 0, 0, 0, 0)                                                                \
    X(INTERPRETER_THREADS, 8, 8, 16, 72)                                                           \
    X(THREAD_PREVIOUS, 0, 0, 0, 0)                                                                 \
    X(THREAD_NEXT, 8, 8, 8, 8)                                                                     \
    X(THREAD_INTERPRETER, 16, 16, 16, 16)                                                          \
    X(THREAD_ID, 176, 176, 152, 136)                                                               \
    X(THREAD_NATIVE_ID, NONE, NONE, 160, 144)                                                      \
    X(THREAD_FRAME, 24, 24, NONE, NONE)                                                            \
    X(THREAD_CFRAME, NONE, 48, 56, 56)                                                             \
    X(CFRAME_PREVIOUS, NONE, 8, 16, 8)                                                             \
    X(CFRAME_FRAME, NONE, NONE, 8, 0)                                                              \
    X(FRAME_PREVIOUS, 24, 24, 48, 8)                                                               \
    X(FRAME_CODE, 32, 32, 32, 0)                                                                   \
    X(FRAME_POSITION, 104, 96, 56, 56)                                                             \
    X(FRAME_OWNER, NONE, NONE, 68, 70)                                                             \
    X(FRAME_STATE, NONE, 108, NONE, NONE)                                                          \
    X(FRAME_TLBC, NONE, NONE, NONE, NONE)                                                          \
    X(FRAME_LOCALS, 360, 352, 72, 72)                                                              \
    X(OBJECT_TYPE, 8, 8, 8, 8)                                                                     \
    X(CODE_NAME, 112, 112, 128, 128)                                                               \
    X(CODE_FILE, 104, 104, 112, 112)                                                               \
    X(CODE_FIRST_LINE, 40, 40, 72, 68)                                                             \
    X(CODE_LINES, 120, 120, 136, 136)                                                              \
    X(CODE_BYTES, NONE, NONE, 184, 192)                                                            \
    X(CODE_TLBC, NONE, NONE, NONE, NONE)                                                           \
    X(BYTES_SIZE, 16, 16, 16, 16)                                                                  \
    X(BYTES_DATA, 32, 32, 32, 32)                                                                  \
    X(STRING_LENGTH, 16, 16, 16, 16)                                                               \
    X(STRING_HASH, 24, 24, 24, 24)                                                                 \
    X(STRING_STATE, 32, 32, 32, 32)                                                                \
    X(STRING_ASCII, 48, 48, 48, 40)                                                                \
    X(STRING_OTHER, 72, 72, 72, 56)                                                                \
    X(TASK_NAME, 160, 168, 144, 144)                                                               \
    X(GIL, 352, 352, 360, NONE)                                                                    \
    X(INTERPRETER_GIL, NONE, NONE, NONE, 384)                                                      \
    X(GIL_LOCKED, 16, 16, 16, 16)                                                                  \
    X(GIL_HOLDER, 8, 8, 8, 8)                                                                      \
    X(GIL_ENABLED, NONE, NONE, NONE, NONE)

/* Word, and where its value stands in _Py_DebugOffsets of 3.13 and 3.14. */
#define DEBUG_PLACES(X)                                                                            \
    X(INTERPRETERS, 5, 5)                                                                          \
    X(INTERPRETER_NEXT, 8, 8)                                                                      \
    X(INTERPRETER_THREADS, 9, 9)                                                                   \
    X(INTERPRETER_GIL, 14, 15)                                                                     \
    X(THREAD_PREVIOUS, 20, 23)                                                                     \
    X(THREAD_NEXT, 21, 24)                                                                         \
    X(THREAD_INTERPRETER, 22, 25)                                                                  \
    X(THREAD_FRAME, 23, 26)                                                                        \
    X(THREAD_ID, 24, 27)                                                                           \
    X(THREAD_NATIVE_ID, 25, 28)                                                                    \
    X(FRAME_PREVIOUS, 29, 32)                                                                      \
    X(FRAME_CODE, 30, 33)                                                                          \
    X(FRAME_POSITION, 31, 34)                                                                      \
    X(FRAME_OWNER, 33, 36)                                                                         \
    X(CODE_FILE, 35, 40)                                                                           \
    X(CODE_NAME, 37, 42)                                                                           \
    X(CODE_LINES, 38, 43)                                                                          \
    X(CODE_FIRST_LINE, 39, 44)                                                                     \
    X(CODE_BYTES, 43, 48)                                                                          \
    X(OBJECT_TYPE, 45, 51)                                                                         \
    X(BYTES_SIZE, 65, 75)                                                                          \
    X(BYTES_DATA, 66, 76)                                                                          \
    X(STRING_STATE, 68, 78)                                                                        \
    X(STRING_LENGTH, 69, 79)                                                                       \
    X(STRING_ASCII, 70, 80)

/* Others of its places, in 3.13 and 3.14. */
enum debug_place {
    FREE_THREADED,
    INTERPRETER_BYTES,
    THREAD_BYTES,
    FRAME_BYTES,
    CODE_OBJECT_BYTES,
    STRING_BYTES,
    GIL_BEGINS, /* these four in the interpreter that owns it; enabled in the lock itself */
    GIL_IS_ENABLED,
    GIL_IS_LOCKED,
    GIL_LAST_HOLDER,
    FRAME_BYTECODE, /* 3.14, free-threaded */
    CODE_BYTECODES,
    DEBUG_PLACES_COUNT
};

static const uint8_t places[2][DEBUG_PLACES_COUNT] = {
    { [FREE_THREADED] = 2,
      [INTERPRETER_BYTES] = 6,
      [THREAD_BYTES] = 19,
      [FRAME_BYTES] = 28,
      [CODE_OBJECT_BYTES] = 34,
      [STRING_BYTES] = 67,
      [GIL_BEGINS] = 15,
      [GIL_IS_ENABLED] = 16,
      [GIL_IS_LOCKED] = 17,
      [GIL_LAST_HOLDER] = 18 },
    { [FREE_THREADED] = 2,
      [INTERPRETER_BYTES] = 6,
      [THREAD_BYTES] = 22,
      [FRAME_BYTES] = 31,
      [CODE_OBJECT_BYTES] = 39,
      [STRING_BYTES] = 77,
      [GIL_BEGINS] = 16,
      [GIL_IS_ENABLED] = 17,
      [GIL_IS_LOCKED] = 18,
      [GIL_LAST_HOLDER] = 19,
      [FRAME_BYTECODE] = 38,
      [CODE_BYTECODES] = 49 },
};

static uint64_t field_or_none(int64_t offset)
{
    return offset == NONE ? CPYTHON_NO_FIELD : (uint64_t)offset;
}

static void by_table(uint32_t minor, uint64_t words[CPYTHON_WORDS])
{
#define ROW(word, in_39, in_310, in_311, in_312)                                                   \
    words[CPYTHON_##word] =                                                                        \
        field_or_none((const int64_t[]){ in_39, in_310, in_311, in_312 }[minor - MINOR_FIRST]);
    LAYOUTS(ROW)
#undef ROW
}

static bool in(uint64_t offset, uint64_t bytes)
{
    return offset + sizeof(uint64_t) <= bytes;
}

/* The fields are where such structures have them; another order of the offsets would not look so. */
static bool is_plausible(const uint64_t words[CPYTHON_WORDS], const uint64_t *debug,
                         const uint8_t *at)
{
    uint64_t head = words[CPYTHON_OBJECT_TYPE] + sizeof(uint64_t);

    return in(words[CPYTHON_INTERPRETER_NEXT], debug[at[INTERPRETER_BYTES]]) &&
           in(words[CPYTHON_INTERPRETER_THREADS], debug[at[INTERPRETER_BYTES]]) &&
           in(words[CPYTHON_THREAD_NEXT], debug[at[THREAD_BYTES]]) &&
           in(words[CPYTHON_THREAD_FRAME], debug[at[THREAD_BYTES]]) &&
           in(words[CPYTHON_THREAD_NATIVE_ID], debug[at[THREAD_BYTES]]) &&
           words[CPYTHON_THREAD_PREVIOUS] < words[CPYTHON_THREAD_NEXT] &&
           words[CPYTHON_THREAD_NEXT] < words[CPYTHON_THREAD_INTERPRETER] &&
           in(words[CPYTHON_FRAME_POSITION], debug[at[FRAME_BYTES]]) &&
           words[CPYTHON_FRAME_CODE] == 0 && words[CPYTHON_FRAME_PREVIOUS] == sizeof(uint64_t) &&
           words[CPYTHON_FRAME_OWNER] < debug[at[FRAME_BYTES]] &&
           words[CPYTHON_CODE_BYTES] <= debug[at[CODE_OBJECT_BYTES]] &&
           in(words[CPYTHON_CODE_FILE], words[CPYTHON_CODE_NAME]) &&
           in(words[CPYTHON_CODE_NAME], words[CPYTHON_CODE_LINES]) &&
           words[CPYTHON_BYTES_SIZE] == head && words[CPYTHON_STRING_LENGTH] == head &&
           in(words[CPYTHON_STRING_STATE], words[CPYTHON_STRING_ASCII]) &&
           words[CPYTHON_STRING_ASCII] < debug[at[STRING_BYTES]];
}

static bool by_debug_offsets(uint32_t minor, const uint64_t *debug, uint64_t words[CPYTHON_WORDS])
{
    const uint32_t column = minor - MINOR_DEBUG;
    const uint8_t *at = places[column];
    bool free_threaded = debug[at[FREE_THREADED]] != 0, tagged = minor >= 14 && free_threaded;

    for (uint32_t word = 0; word < CPYTHON_WORDS; word++)
        words[word] = CPYTHON_NO_FIELD;
#define ROW(word, in_313, in_314)                                                                  \
    words[CPYTHON_##word] = debug[(const uint8_t[]){ in_313, in_314 }[column]];
    DEBUG_PLACES(ROW)
#undef ROW
    words[CPYTHON_CHAIN] = CPYTHON_CHAIN_SHIMS;
    words[CPYTHON_LINES] = FEED_LINES_CPYTHON_311;
    words[CPYTHON_POSITION_UNIT] = 0;
    words[CPYTHON_SHIM_OWNER] = 3;
    words[CPYTHON_STRING_HASH] = words[CPYTHON_STRING_LENGTH] + sizeof(uint64_t);
    words[CPYTHON_STRING_OTHER] = debug[at[STRING_BYTES]] - sizeof(uint64_t);
    words[CPYTHON_STRING_SHIFT] = tagged ? 8 : 2; /* there "interned" is a byte */
    words[CPYTHON_GIL_LOCKED] = debug[at[GIL_IS_LOCKED]] - debug[at[GIL_BEGINS]];
    words[CPYTHON_GIL_HOLDER] = debug[at[GIL_LAST_HOLDER]] - debug[at[GIL_BEGINS]];
    if (!free_threaded) { /* of such a 3.13 and 3.14 none was at hand */
        words[CPYTHON_FRAME_LOCALS] = minor == 13 ? 72 : 80;
        words[CPYTHON_TASK_NAME] = minor == 13 ? 128 : 136;
    }
    if (free_threaded)
        words[CPYTHON_GIL_ENABLED] = debug[at[GIL_IS_ENABLED]];
    if (tagged) {
        words[CPYTHON_FRAME_TLBC] = debug[at[FRAME_BYTECODE]];
        words[CPYTHON_CODE_TLBC] = debug[at[CODE_BYTECODES]];
    }
    return is_plausible(words, debug, at);
}

const char *cpython_layout(uint32_t version, const uint64_t *debug, uint64_t words[CPYTHON_WORDS])
{
    uint32_t minor = version >> 16 & 0xff;

    if (version >> 24 != 3 || minor < MINOR_FIRST)
        return "older than 3.9";
    if (minor > MINOR_LAST)
        return "newer than 3.14";
    if (minor < MINOR_DEBUG) {
        by_table(minor, words);
        return NULL;
    }
    if (!debug || memcmp(debug, "xdebugpy", 8) != 0)
        return "its debug offsets cannot be read";
    if (debug[1] >> 16 != version >> 16 || !by_debug_offsets(minor, debug, words))
        return "its debug offsets are of another form";
    return NULL;
}
