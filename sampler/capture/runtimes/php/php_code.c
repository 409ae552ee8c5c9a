#include "php_code.h"

#include <string.h>

enum { STRING_KEY_WORDS = 3 };

static const char internal_file[] = "[internal function]", main_name[] = "{main}",
                  include_name[] = "include ", eval_name[] = "eval";

/* What tells a function from others, and its texts. */
struct fields {
    uint64_t name, scope, opcodes, file;
    uint32_t opcode_count, first_line;
    uint8_t type;
    bool outermost;
};

/* A zend_string. */
struct string {
    uint64_t head, hash, length;
    char text[];
};

static SIGNAL_SAFE bool read_fields(struct runtime_scan *scan, const uint64_t *words,
                                    uint64_t function, struct fields *out)
{
    struct guarded_memory *memory = &scan->memory;

    if (!guarded_read(memory, &out->type, function, sizeof out->type) ||
        (out->type != PHP_INTERNAL && out->type != PHP_USER && out->type != PHP_EVAL) ||
        !guarded_word(memory, function + words[PHP_FUNCTION_NAME], &out->name) ||
        !guarded_word(memory, function + words[PHP_FUNCTION_SCOPE], &out->scope))
        return false;
    return out->type == PHP_INTERNAL ||
           (guarded_word(memory, function + words[PHP_FUNCTION_OPCODES], &out->opcodes) &&
            guarded_read(memory, &out->opcode_count, function + words[PHP_FUNCTION_OPCODE_COUNT],
                         sizeof out->opcode_count) &&
            guarded_word(memory, function + words[PHP_FUNCTION_FILE], &out->file) &&
            guarded_read(memory, &out->first_line, function + words[PHP_FUNCTION_FIRST_LINE],
                         sizeof out->first_line));
}

bool php_opcodes(struct runtime_scan *scan, const uint64_t *words, uint64_t function, uint64_t *out)
{
    struct fields fields = { 0 };

    if (!function || !read_fields(scan, words, function, &fields) || fields.type == PHP_INTERNAL)
        return false;
    *out = fields.opcodes;
    return true;
}

/* Hash, length and first bytes of what it is called by: functions are made anew at the addresses of
 * those that are gone. 0: it cannot be read. */
static SIGNAL_SAFE uint64_t key_of(struct runtime_scan *scan, uint32_t entry,
                                   const struct fields *fields)
{
    const uint64_t string = fields->name ? fields->name : fields->file;
    uint64_t key = code_key_begin(entry), words[STRING_KEY_WORDS];

    if (!guarded_read(&scan->memory, words, string + sizeof words[0], sizeof words))
        return 0;
    key = code_key_add(key, fields->name);
    key = code_key_add(key, fields->scope);
    key = code_key_add(key, fields->opcodes);
    key = code_key_add(key, fields->file);
    key = code_key_add(key, (uint64_t)fields->first_line << 32 | fields->opcode_count);
    key = code_key_add(key, (uint64_t)fields->outermost << 8 | fields->type);
    for (uint32_t i = 0; i < STRING_KEY_WORDS; i++)
        key = code_key_add(key, words[i]);
    return key;
}

/* Returns its bytes, room at most. */
static SIGNAL_SAFE uint32_t put_string(struct runtime_scan *scan, uint64_t string, char *out,
                                       uint32_t room)
{
    struct string head;

    if (!guarded_read(&scan->memory, &head, string, sizeof head))
        return 0;
    if (head.length > room)
        head.length = room;
    return guarded_read(&scan->memory, out, string + sizeof head, head.length)
               ? (uint32_t)head.length
               : 0;
}

static SIGNAL_SAFE uint32_t put_text(char *out, const char *text, uint32_t bytes)
{
    memcpy(out, text, bytes);
    return bytes;
}

/* Of a function: with its class. */
static SIGNAL_SAFE uint32_t put_function_name(struct runtime_scan *scan, const uint64_t *words,
                                              const struct fields *fields)
{
    char *name = scan->texts->name;
    uint64_t class;
    uint32_t bytes = 0;

    if (fields->scope && guarded_word(&scan->memory, fields->scope + words[PHP_CLASS_NAME], &class))
        bytes = put_string(scan, class, name, FEED_CODE_NAME_MAX / 2);
    if (bytes)
        bytes += put_text(&name[bytes], "::", 2);
    return bytes + put_string(scan, fields->name, &name[bytes], FEED_CODE_NAME_MAX - bytes);
}

/* Of a file's code: the file's texts stand. */
static SIGNAL_SAFE uint32_t put_code_name(struct runtime_scan *scan, const struct fields *fields,
                                          uint32_t file_bytes)
{
    char *name = scan->texts->name;
    const char *file = scan->texts->file;
    uint32_t from = file_bytes, bytes;

    if (fields->type == PHP_EVAL)
        return put_text(name, eval_name, sizeof eval_name - 1);
    if (fields->outermost)
        return put_text(name, main_name, sizeof main_name - 1);
    while (from && file[from - 1] != '/')
        from--;
    bytes = put_text(name, include_name, sizeof include_name - 1);
    if (file_bytes - from > FEED_CODE_NAME_MAX - bytes)
        file_bytes = from + FEED_CODE_NAME_MAX - bytes;
    return bytes + put_text(&name[bytes], &file[from], file_bytes - from);
}

static SIGNAL_SAFE uint32_t tell(struct runtime_scan *scan, uint32_t entry,
                                 const struct fields *fields)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    struct runtime_texts *texts = scan->texts;
    struct feed_code_text text = { .runtime = FEED_RUNTIME_PHP,
                                   .lines = FEED_LINES_DIRECT,
                                   .name = texts->name,
                                   .file = texts->file,
                                   .first_line = fields->first_line };

    text.file_bytes = fields->type == PHP_INTERNAL
                          ? put_text(texts->file, internal_file, sizeof internal_file - 1)
                          : put_string(scan, fields->file, texts->file, FEED_CODE_FILE_MAX);
    text.name_bytes = fields->name ? put_function_name(scan, words, fields)
                                   : put_code_name(scan, fields, text.file_bytes);
    return feed_writer_code(scan->writer, &text);
}

static SIGNAL_SAFE uint32_t line_of(struct runtime_scan *scan, const uint64_t *words,
                                    const struct php_code *code, const struct fields *fields)
{
    const uint64_t bytes = fields->opcode_count * words[PHP_OPCODE_BYTES];
    uint64_t at = code->newer_opcode - fields->opcodes < bytes ? code->newer_opcode : code->opcode;
    uint32_t line;

    return fields->type != PHP_INTERNAL && at - fields->opcodes < bytes &&
                   guarded_read(&scan->memory, &line, at + words[PHP_OPCODE_LINE], sizeof line)
               ? line
               : FEED_NO_POSITION;
}

uint8_t php_put_code(struct runtime_scan *scan, uint32_t entry, const struct php_code *code)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    struct fields fields = { 0 };
    uint64_t key;
    uint32_t id;

    if (!read_fields(scan, words, code->function, &fields))
        return 0;
    fields.outermost = code->outermost;
    /* The function that a fiber begins in has no name. */
    if (fields.type == PHP_INTERNAL && !fields.name)
        return fields.type;
    key = key_of(scan, entry, &fields);
    if (!key)
        return 0;
    id = scan->cache ? code_cache_find(scan->cache, key) : 0;
    if (!id) {
        id = tell(scan, entry, &fields);
        if (scan->cache)
            code_cache_put(scan->cache, key, id);
    }
    runtime_put(scan, id, line_of(scan, words, code, &fields));
    return fields.type;
}
