#include "v8_code.h"

#include <string.h>

enum {
    /* ScopeInfo. */
    SCOPE_FLAGS = 8,
    SCOPE_LOCALS = 24,
    SCOPE_REST = 32,
    SCOPE_LOCALS_INLINE = 75, /* the names of more are kept elsewhere */
    SCOPE_LOCALS_MAX = 1 << 16,
    SCOPE_TYPE_MASK = 15,
    SCOPE_HAS_SAVED_CLASS = 1 << 10,
    SCOPE_HAS_NAME = 3 << 12,
    SCOPE_HAS_INFERRED = 1 << 14,
    STRING_HASH = 8, /* and its length */
    BYTECODE_TAG = 1 << 8,
};

struct scope {
    uint64_t name, inferred; /* any word */
    int32_t start, end;
};

SIGNAL_SAFE_INLINE bool scope_flags(const struct v8_walk *walk, uint64_t info, uint32_t *out)
{
    uint64_t word;

    if (!v8_field(walk, info, SCOPE_FLAGS, &word))
        return false;
    *out = (uint32_t)word ? (uint32_t)word : (uint32_t)(word >> 32); /* up to 12.x a small number */
    return true;
}

/* Which slots it has is said by its flags. */
static SIGNAL_SAFE bool read_scope(const struct v8_walk *walk, uint64_t info, struct scope *out)
{
    uint64_t at = SCOPE_REST, places = 0;
    uint32_t flags;
    int32_t locals;

    out->name = out->inferred = 0;
    if (!scope_flags(walk, info, &flags) || !v8_number(walk, info, SCOPE_LOCALS, &locals) ||
        locals < 0 || locals > SCOPE_LOCALS_MAX)
        return false;
    if (walk->words[V8_SCOPE_PLACES_FIRST]) {
        places = at;
        at += 16;
    }
    if (walk->words[V8_SCOPE_MODULE] && (flags & SCOPE_TYPE_MASK) == walk->words[V8_SCOPE_MODULE])
        at += 8;
    at += 8 * (locals < SCOPE_LOCALS_INLINE ? (uint64_t)locals : 1) + 8 * (uint64_t)locals;
    if (flags & SCOPE_HAS_SAVED_CLASS)
        at += 8;
    if (flags & SCOPE_HAS_NAME) {
        if (!v8_field(walk, info, at, &out->name))
            return false;
        at += 16;
    }
    if (flags & SCOPE_HAS_INFERRED) {
        if (!v8_field(walk, info, at, &out->inferred))
            return false;
        at += 8;
    }
    if (!places)
        places = at;
    return v8_number(walk, info, places, &out->start) &&
           v8_number(walk, info, places + 8, &out->end) && out->start >= 0 &&
           out->end >= out->start;
}

/* 0: it is none, or empty. */
static SIGNAL_SAFE uint64_t text_or_none(const struct v8_walk *walk, uint64_t string)
{
    uint32_t length;

    return v8_string_length(walk, string, &length) && length ? string : 0;
}

static SIGNAL_SAFE bool read_names(const struct v8_walk *walk, uint64_t shared,
                                   struct v8_shared *out, int32_t *end)
{
    uint64_t name;
    struct scope scope;

    if (!v8_field(walk, shared, walk->words[V8_SHARED_NAME], &name))
        return false;
    if (!v8_is(walk, name, V8_TYPE_SCOPE)) {
        out->name = text_or_none(walk, name);
        return true;
    }
    if (!read_scope(walk, name, &scope))
        return false;
    out->name = text_or_none(walk, scope.name);
    if (!out->name)
        out->name = text_or_none(walk, scope.inferred);
    out->start = scope.start;
    *end = scope.end;
    return true;
}

/* False: what it holds changes just now. */
static SIGNAL_SAFE bool read_script(const struct v8_walk *walk, uint64_t shared,
                                    struct v8_shared *out, uint64_t *id)
{
    uint64_t script;

    if (!v8_field(walk, shared, walk->words[V8_SHARED_SCRIPT], &script))
        return false;
    if (!v8_is(walk, script, V8_TYPE_SCRIPT))
        return true;
    out->script = script;
    return v8_field(walk, script, walk->words[V8_SCRIPT_ID], id) &&
           v8_field(walk, script, walk->words[V8_SCRIPT_SOURCE], &out->source);
}

bool v8_shared_read(const struct v8_walk *walk, uint64_t shared, struct v8_shared *out)
{
    uint64_t id = 0, hash = 0, key = code_key_begin(walk->entry);
    int32_t end = -1;

    *out = (struct v8_shared){ .shared = shared, .start = -1 };
    if (!v8_is(walk, shared, V8_TYPE_SHARED) || !read_names(walk, shared, out, &end) ||
        !read_script(walk, shared, out, &id) ||
        (out->name && !v8_field(walk, out->name, STRING_HASH, &hash)))
        return false;
    key = code_key_add(key, shared);
    key = code_key_add(key, out->name);
    key = code_key_add(key, hash);
    key = code_key_add(key, out->script);
    key = code_key_add(key, out->source);
    key = code_key_add(key, id);
    out->identity = code_key_add(key, (uint64_t)(uint32_t)out->start << 32 | (uint32_t)end);
    return true;
}

bool v8_shared_bytecode(const struct v8_walk *walk, uint64_t shared, uint64_t *out)
{
    uint64_t data;

    if (!v8_field(walk, shared, walk->words[V8_SHARED_DATA], &data))
        return false;
    if (v8_is(walk, data, V8_TYPE_CODE) && !v8_field(walk, data, walk->words[V8_CODE_DATA], &data))
        return false;
    if (v8_is(walk, data, V8_TYPE_INTERPRETER_DATA) && !v8_field(walk, data, 8, &data))
        return false;
    *out = data;
    return v8_is(walk, data, V8_TYPE_BYTECODE);
}

bool v8_bytes(const struct v8_walk *walk, uint64_t array, uint8_t *out, uint32_t room,
              uint32_t *bytes)
{
    int32_t length;

    if (!v8_is(walk, array, V8_TYPE_BYTES) || !v8_number(walk, array, V8_LENGTH, &length) ||
        length < 0 || (uint32_t)length > room ||
        !guarded_read(&walk->scan->memory, out, array - V8_TAG + V8_ARRAY_DATA, (size_t)length))
        return false;
    *bytes = (uint32_t)length;
    return true;
}

SIGNAL_SAFE_INLINE int hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit |= 0x20;
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* A module's name is a URL. In its place: the path. */
static SIGNAL_SAFE uint32_t path_of_url(char *file, uint32_t bytes)
{
    static const char beginning[] = "file://";
    const uint32_t skip = sizeof beginning - 1;
    uint32_t out = 0;

    if (bytes <= skip || memcmp(file, beginning, skip) != 0 || file[skip] != '/')
        return bytes;
    for (uint32_t in = skip; in < bytes; in++) {
        int high = file[in] == '%' && in + 2 < bytes ? hex_digit(file[in + 1]) : -1,
            low = high >= 0 ? hex_digit(file[in + 2]) : -1;

        if (file[in] == '?' || file[in] == '#')
            break;
        file[out++] = low >= 0 ? (char)(high << 4 | low) : file[in];
        if (low >= 0)
            in += 2;
    }
    return out;
}

static SIGNAL_SAFE uint32_t put_word(char *out, const char *word)
{
    uint32_t bytes = (uint32_t)strlen(word);

    memcpy(out, word, bytes);
    return bytes;
}

static SIGNAL_SAFE void read_file(const struct v8_walk *walk, const struct v8_shared *shared,
                                  struct feed_code_text *out)
{
    struct runtime_texts *texts = walk->scan->texts;
    uint64_t name;

    out->file = texts->file;
    if (!shared->script)
        out->file_bytes = put_word(texts->file, "<built-in>");
    else if (v8_field(walk, shared->script, walk->words[V8_SCRIPT_NAME], &name) &&
             v8_text(walk, name, texts->file, FEED_CODE_FILE_MAX, &out->file_bytes) &&
             out->file_bytes)
        out->file_bytes = path_of_url(texts->file, out->file_bytes);
    else
        out->file_bytes = put_word(texts->file, "<eval>");
}

bool v8_shared_texts(const struct v8_walk *walk, const struct v8_shared *shared,
                     struct feed_code_text *out)
{
    struct runtime_texts *texts = walk->scan->texts;

    if (!shared->name && !shared->script)
        return false;
    *out = (struct feed_code_text){ .runtime = FEED_RUNTIME_V8, .name = texts->name };
    if (!shared->name)
        out->name_bytes = put_word(texts->name, "(anonymous)");
    else if (!v8_text(walk, shared->name, texts->name, FEED_CODE_NAME_MAX, &out->name_bytes))
        return false;
    read_file(walk, shared, out);
    /* As code_lines.h has places. */
    out->first_line = shared->script && shared->start >= 0 ? (uint32_t)shared->start + 1 : 0;
    out->lines = shared->script ? FEED_LINES_V8_CHARACTER : FEED_LINES_DIRECT;
    return true;
}

uint32_t v8_source_length(const struct v8_walk *walk, const struct v8_shared *shared)
{
    uint32_t length;

    return shared->source && v8_string_length(walk, shared->source, &length) ? length : 0;
}

/* A table that is too long, or changes just now, is left out. */
static SIGNAL_SAFE void read_table(const struct v8_walk *walk, const struct v8_shared *shared,
                                   uint64_t table, struct feed_code_text *text)
{
    uint8_t *out = walk->scan->texts->table;
    uint32_t length = v8_source_length(walk, shared), bytes;

    memcpy(out, &length, sizeof length);
    text->table = out;
    text->table_bytes = sizeof length;
    if (table &&
        v8_bytes(walk, table, out + sizeof length, FEED_CODE_TABLE_MAX - sizeof length, &bytes)) {
        text->lines = FEED_LINES_V8;
        text->table_bytes += bytes;
    }
}

bool v8_code_id(const struct v8_walk *walk, const struct v8_shared *shared, uint64_t table,
                uint32_t *out)
{
    uint64_t key = code_key_add(code_key_add(shared->identity, BYTECODE_TAG), table);
    struct feed_code_text text;

    *out = walk->scan->cache ? code_cache_find(walk->scan->cache, key) : 0;
    if (*out)
        return true;
    if (!v8_shared_texts(walk, shared, &text))
        return false;
    if (shared->script)
        read_table(walk, shared, table, &text);
    *out = feed_writer_code(walk->scan->writer, &text);
    if (walk->scan->cache)
        code_cache_put(walk->scan->cache, key, *out);
    return true;
}
