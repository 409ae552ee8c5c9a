#include "jvm_method.h"

#include "jvm_packed.h"

#include <string.h>

enum {
    CONST_FIELDS_BYTES = 64,
    CONST_WORDS_MAX = 1 << 17,
    POOL_ENTRIES_MAX = UINT16_MAX,
};

/* No symbol, no source file. */
#define NO_FILE   "<java>"
#define STUB_FILE "<jvm>"

SIGNAL_SAFE_INLINE uint32_t field16(const uint8_t *fields, uint64_t offset)
{
    uint16_t number;

    memcpy(&number, fields + offset % (CONST_FIELDS_BYTES - 1), sizeof number);
    return number;
}

SIGNAL_SAFE_INLINE uint32_t field32(const uint8_t *fields, uint64_t offset)
{
    uint32_t number;

    memcpy(&number, fields + offset % (CONST_FIELDS_BYTES - 3), sizeof number);
    return number;
}

SIGNAL_SAFE_INLINE bool read_constant(struct guarded_memory *memory,
                                      const struct feed_runtime *runtime, struct jvm_method *out)
{
    const uint64_t *words = runtime->words;
    uint8_t fields[CONST_FIELDS_BYTES] = { 0 };
    uint64_t bytes = words[JVM_CONST_BYTES];
    uint32_t size, code_size;

    if (bytes > sizeof fields || !guarded_read(memory, fields, out->constant, bytes))
        return false;
    size = field32(fields, words[JVM_CONST_SIZE]);
    code_size = field16(fields, words[JVM_CONST_CODE_SIZE]);
    if (size > CONST_WORDS_MAX || bytes + code_size > (uint64_t)size * 8)
        return false;
    out->bytecode = out->constant + bytes;
    out->bytecode_end = out->bytecode + code_size;
    out->constant_end = out->constant + (uint64_t)size * 8;
    out->name_index = field16(fields, words[JVM_CONST_NAME]);
    out->flags = field16(fields, words[JVM_CONST_FLAGS]);
    out->max_stack = field16(fields, words[JVM_CONST_MAX_STACK]);
    memcpy(&out->pool, fields + words[JVM_CONST_POOL] % (CONST_FIELDS_BYTES - 7), 8);
    out->fields = code_key_begin(size);
    for (uint32_t i = 0; i < CONST_FIELDS_BYTES / 8; i++) {
        uint64_t word;

        /* The first one is made when it is asked for. */
        memcpy(&word, fields + i * 8, 8);
        if (i)
            out->fields = code_key_add(out->fields, word);
    }
    return true;
}

bool jvm_method_read(struct guarded_memory *memory, const struct feed_runtime *runtime,
                     uint64_t address, struct jvm_method *out)
{
    const uint64_t *words = runtime->words;
    uint32_t entries;

    if (address % 8 || !guarded_word(memory, address + words[JVM_METHOD_CONST], &out->constant) ||
        out->constant % 8 || !read_constant(memory, runtime, out) || out->pool % 8 ||
        !guarded_read(memory, &entries, out->pool + words[JVM_POOL_LENGTH], sizeof entries) ||
        entries > POOL_ENTRIES_MAX || !out->name_index || out->name_index >= entries ||
        !guarded_word(memory, out->pool + words[JVM_POOL_HOLDER], &out->klass) || out->klass % 8 ||
        !guarded_word(memory, out->klass + words[JVM_KLASS_NAME], &out->klass_name) ||
        out->klass_name % 8)
        return false;
    out->address = address;
    return true;
}

/* A text under way. */
struct text {
    char *bytes;
    uint32_t used, room;
};

SIGNAL_SAFE_INLINE void text_add(struct text *text, const char *bytes, uint32_t count)
{
    if (count > text->room - text->used)
        count = text->room - text->used;
    memcpy(text->bytes + text->used, bytes, count);
    text->used += count;
}

/* Of a text that is too long its beginning. */
SIGNAL_SAFE_INLINE bool text_add_symbol(struct guarded_memory *memory,
                                        const struct feed_runtime *runtime, uint64_t symbol,
                                        struct text *text)
{
    uint16_t bytes;
    uint32_t room = text->room - text->used;

    if (!guarded_read(memory, &bytes, symbol + runtime->words[JVM_SYMBOL_LENGTH], sizeof bytes))
        return false;
    if (bytes > room)
        bytes = (uint16_t)room;
    if (!guarded_read(memory, text->bytes + text->used, symbol + runtime->words[JVM_SYMBOL_BODY],
                      bytes))
        return false;
    text->used += bytes;
    return true;
}

SIGNAL_SAFE_INLINE bool pool_symbol(struct guarded_memory *memory,
                                    const struct feed_runtime *runtime, uint64_t pool,
                                    uint32_t index, uint64_t *out)
{
    /* The lowest bit once marked some of them. */
    if (!guarded_word(memory, pool + runtime->words[JVM_POOL_BYTES] + index * UINT64_C(8), out))
        return false;
    *out &= ~UINT64_C(1);
    return true;
}

/* "com/example/Shape" is its class; what a hidden one has behind a '+' is its address. Returns bytes of
 * its package, with the '/' at its end. */
SIGNAL_SAFE_INLINE uint32_t class_name(struct text *name)
{
    uint32_t package = 0;

    for (uint32_t i = 0; i < name->used; i++) {
        if (name->bytes[i] == '+') {
            name->used = i;
            break;
        }
        if (name->bytes[i] == '/')
            package = i + 1;
    }
    return package;
}

SIGNAL_SAFE_INLINE bool read_name(struct guarded_memory *memory, const struct feed_runtime *runtime,
                                  const struct jvm_method *method, struct text *name,
                                  struct text *file)
{
    uint32_t package;
    uint64_t symbol;

    if (!text_add_symbol(memory, runtime, method->klass_name, name))
        return false;
    package = class_name(name);
    text_add(file, name->bytes, package);
    for (uint32_t i = 0; i < name->used; i++)
        if (name->bytes[i] == '/')
            name->bytes[i] = '.';
    text_add(name, ".", 1);
    return pool_symbol(memory, runtime, method->pool, method->name_index, &symbol) &&
           text_add_symbol(memory, runtime, symbol, name);
}

/* file holds the package. */
SIGNAL_SAFE_INLINE void read_file(struct guarded_memory *memory, const struct feed_runtime *runtime,
                                  const struct jvm_method *method, struct text *file)
{
    uint64_t of = runtime->words[JVM_SOURCE_FILE_IN_KLASS] ? method->klass : method->pool, symbol;
    uint16_t index = 0;

    if (guarded_read(memory, &index, of + runtime->words[JVM_SOURCE_FILE], sizeof index) && index &&
        pool_symbol(memory, runtime, method->pool, index, &symbol) &&
        text_add_symbol(memory, runtime, symbol, file))
        return;
    file->used = 0;
    text_add(file, NO_FILE, sizeof NO_FILE - 1);
}

/* Its line table, without what lies behind; and its first line. */
SIGNAL_SAFE_INLINE uint32_t read_lines(struct guarded_memory *memory,
                                       const struct feed_runtime *runtime,
                                       const struct jvm_method *method,
                                       uint8_t table[FEED_CODE_TABLE_MAX], uint32_t *first_line)
{
    uint64_t bytes = method->constant_end - method->bytecode_end;
    struct jvm_packed packed = { table, table, (uint32_t)runtime->words[JVM_PACKED_EXCLUDES] };
    int64_t bci = 0, line = 0;

    if (!(method->flags & runtime->words[JVM_CONST_FLAG_LINES]))
        return 0;
    if (bytes > FEED_CODE_TABLE_MAX)
        bytes = FEED_CODE_TABLE_MAX;
    if (!guarded_read(memory, table, method->bytecode_end, bytes))
        return 0;
    packed.end = table + bytes;
    while (jvm_lines_next(&packed, &bci, &line))
        if (line > 0 && (!*first_line || line < *first_line))
            *first_line = (uint32_t)line;
    return (uint32_t)(packed.at - table);
}

static SIGNAL_SAFE uint32_t write_method(struct runtime_scan *scan,
                                         const struct feed_runtime *runtime,
                                         const struct jvm_method *method)
{
    struct runtime_texts *texts = scan->texts;
    struct text name = { texts->name, 0, FEED_CODE_NAME_MAX };
    struct text file = { texts->file, 0, FEED_CODE_FILE_MAX };
    uint32_t first_line = 0, table_bytes;
    struct feed_code_text text;

    if (!read_name(&scan->memory, runtime, method, &name, &file))
        return 0;
    read_file(&scan->memory, runtime, method, &file);
    table_bytes = read_lines(&scan->memory, runtime, method, texts->table, &first_line);
    text = (struct feed_code_text){
        .runtime = FEED_RUNTIME_JVM,
        .lines = (enum feed_code_lines)runtime->words[JVM_LINES],
        .name = name.bytes,
        .name_bytes = name.used,
        .file = file.bytes,
        .file_bytes = file.used,
        .table = texts->table,
        .table_bytes = table_bytes,
        .first_line = first_line,
    };
    return feed_writer_code(scan->writer, &text);
}

uint32_t jvm_method_code(struct runtime_scan *scan, uint32_t entry, const struct jvm_method *method)
{
    uint64_t key = code_key_begin(entry);
    uint32_t id;

    key = code_key_add(key, method->address);
    key = code_key_add(key, method->constant);
    key = code_key_add(key, method->fields);
    key = code_key_add(key, method->klass);
    key = code_key_add(key, method->klass_name);
    id = scan->cache ? code_cache_find(scan->cache, key) : 0;
    if (id)
        return id;
    id = write_method(scan, &scan->writer->runtimes[entry], method);
    if (scan->cache)
        code_cache_put(scan->cache, key, id);
    return id;
}

uint32_t jvm_stub_code(struct runtime_scan *scan, uint32_t entry, uint64_t name)
{
    uint64_t key = code_key_add(code_key_begin(entry), name);
    uint32_t id = scan->cache ? code_cache_find(scan->cache, key) : 0;
    struct feed_code_text text = { .runtime = FEED_RUNTIME_JVM,
                                   .lines = FEED_LINES_DIRECT,
                                   .file = STUB_FILE,
                                   .file_bytes = sizeof STUB_FILE - 1 };
    char bytes[64];

    if (id)
        return id;
    while (text.name_bytes < sizeof bytes &&
           guarded_read(&scan->memory, bytes + text.name_bytes, name + text.name_bytes, 1) &&
           bytes[text.name_bytes])
        text.name_bytes++;
    text.name = bytes;
    id = text.name_bytes ? feed_writer_code(scan->writer, &text) : 0;
    if (scan->cache)
        code_cache_put(scan->cache, key, id);
    return id;
}
