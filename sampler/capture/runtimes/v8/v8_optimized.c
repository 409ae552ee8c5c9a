#include "v8_optimized.h"

#include <string.h>

enum {
    OPTIMIZED_TAG = 1 << 9,
    FUNCTIONS_MAX = 1024,
    CALLS_MAX = 2048,
    CALL_BYTES = 16, /* V8's: source position, which function, nothing */
    WEAK = 2,        /* in a tagged word: it does not keep the object */
};

/* The table, as it grows. */
struct table {
    uint8_t *bytes;
    uint32_t count, room;
};

static SIGNAL_SAFE bool put(struct table *table, const void *bytes, uint32_t count)
{
    if (count > table->room - table->count)
        return false;
    memcpy(table->bytes + table->count, bytes, count);
    table->count += count;
    return true;
}

static SIGNAL_SAFE bool put_word(struct table *table, uint32_t word)
{
    return put(table, &word, sizeof word);
}

/* An array's element; a weak one as if it were not. */
static SIGNAL_SAFE bool element(const struct v8_walk *walk, uint64_t array, uint64_t place,
                                uint64_t *out)
{
    int32_t length;

    if (!v8_is_object(array) || !v8_number(walk, array, V8_LENGTH, &length) || length < 0 ||
        place >= (uint32_t)length || !v8_field(walk, array, V8_ARRAY_DATA + 8 * place, out))
        return false;
    if ((*out & V8_TAG_MASK) == (V8_TAG | WEAK))
        *out &= ~(uint64_t)WEAK;
    return true;
}

static SIGNAL_SAFE bool put_function(const struct v8_walk *walk, struct table *table,
                                     uint64_t shared_info)
{
    static const uint8_t zeros[4];
    struct v8_shared shared;
    struct feed_code_text text;

    return v8_shared_read(walk, shared_info, &shared) && v8_shared_texts(walk, &shared, &text) &&
           put_word(table, text.name_bytes) && put_word(table, text.file_bytes) &&
           put_word(table, text.first_line) && put_word(table, v8_source_length(walk, &shared)) &&
           put(table, text.name, text.name_bytes) && put(table, text.file, text.file_bytes) &&
           put(table, zeros, -table->count & 3);
}

static SIGNAL_SAFE bool put_functions(const struct v8_walk *walk, struct table *table,
                                      uint64_t data, uint32_t count)
{
    uint64_t literals, shared;

    if (!element(walk, data, walk->words[V8_DEOPT_LITERALS], &literals))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!element(walk, literals, i, &shared) || !put_function(walk, table, shared))
            return false;
    return true;
}

static SIGNAL_SAFE bool put_calls(const struct v8_walk *walk, struct table *table, uint64_t array,
                                  uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t call[CALL_BYTES / 4];

        if (!guarded_read(&walk->scan->memory, call,
                          array - V8_TAG + V8_ARRAY_DATA + (uint64_t)i * CALL_BYTES, CALL_BYTES) ||
            !put(table, call, 12))
            return false;
    }
    return true;
}

static SIGNAL_SAFE bool put_all(const struct v8_walk *walk, const struct v8_shared *shared,
                                uint64_t data, uint64_t places, struct table *table)
{
    uint64_t word, calls;
    int32_t functions, call_bytes;
    uint32_t bytes;

    if (!element(walk, data, walk->words[V8_DEOPT_INLINED_COUNT], &word) ||
        !v8_small(word, &functions) || functions < 0 || functions > FUNCTIONS_MAX ||
        !element(walk, data, walk->words[V8_DEOPT_INLINED], &calls) || !v8_is_object(calls) ||
        !v8_number(walk, calls, V8_LENGTH, &call_bytes) || call_bytes < 0 ||
        call_bytes / CALL_BYTES > CALLS_MAX)
        return false;
    if (!put_word(table, v8_source_length(walk, shared)) || !put_word(table, (uint32_t)functions) ||
        !put_word(table, (uint32_t)call_bytes / CALL_BYTES) ||
        !put_functions(walk, table, data, (uint32_t)functions) ||
        !put_calls(walk, table, calls, (uint32_t)call_bytes / CALL_BYTES) ||
        !v8_bytes(walk, places, table->bytes + table->count, table->room - table->count, &bytes))
        return false;
    table->count += bytes;
    return bytes != 0;
}

bool v8_optimized_id(const struct v8_walk *walk, const struct v8_machine *machine,
                     const struct v8_shared *shared, uint32_t *out)
{
    struct table table = { .bytes = walk->scan->texts->table, .room = FEED_CODE_TABLE_MAX };
    struct code_cache *cache = walk->scan->cache;
    struct feed_code_text text;
    uint64_t data, places, key;

    if (!v8_field(walk, machine->code, walk->words[V8_CODE_DATA], &data) ||
        !v8_field(walk, machine->code, walk->words[V8_CODE_PLACES], &places))
        return false;
    key = code_key_add(code_key_add(shared->identity, OPTIMIZED_TAG), machine->code);
    key = code_key_add(code_key_add(key, data), places);
    *out = cache ? code_cache_find(cache, key) : 0;
    if (*out)
        return true;
    if (!put_all(walk, shared, data, places, &table) || !v8_shared_texts(walk, shared, &text))
        return false;
    text.lines = FEED_LINES_V8_OPTIMIZED;
    text.table = table.bytes;
    text.table_bytes = table.count;
    *out = feed_writer_code(walk->scan->writer, &text);
    if (cache)
        code_cache_put(cache, key, *out);
    return true;
}
