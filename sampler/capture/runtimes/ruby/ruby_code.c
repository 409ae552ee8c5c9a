#include "ruby_code.h"
#include "ruby_lines.h"
#include "ruby_objects.h"

#include <string.h>

enum { LABEL_KEY_WORDS = 3 };

static const char cfunc_file[] = "<cfunc>";

/* What tells an iseq from others, and its texts. */
struct fields {
    uint64_t body, code, file, base_label, label, first_line;
    uint64_t owner;
    uint32_t size;
};

static SIGNAL_SAFE bool word_at(struct runtime_scan *scan, uint64_t address, uint64_t offset,
                                uint64_t *out)
{
    return guarded_word(&scan->memory, address + offset, out);
}

bool ruby_is_at_start(struct runtime_scan *scan, const uint64_t *words, uint64_t iseq, uint64_t pc)
{
    uint64_t body, code;

    return word_at(scan, iseq, words[RUBY_ISEQ_BODY], &body) &&
           word_at(scan, body, words[RUBY_BODY_CODE], &code) && pc == code;
}

static SIGNAL_SAFE bool read_fields(struct runtime_scan *scan, const uint64_t *words, uint64_t iseq,
                                    struct fields *out)
{
    uint64_t flags;

    return guarded_word(&scan->memory, iseq, &flags) &&
           (flags & RUBY_INNER_KIND) == RUBY_INNER_ISEQ &&
           word_at(scan, iseq, words[RUBY_ISEQ_BODY], &out->body) &&
           guarded_read(&scan->memory, &out->size, out->body + words[RUBY_BODY_SIZE],
                        sizeof out->size) &&
           word_at(scan, out->body, words[RUBY_BODY_CODE], &out->code) &&
           word_at(scan, out->body, words[RUBY_BODY_FILE], &out->file) &&
           word_at(scan, out->body, words[RUBY_BODY_BASE_LABEL], &out->base_label) &&
           word_at(scan, out->body, words[RUBY_BODY_LABEL], &out->label) &&
           word_at(scan, out->body, words[RUBY_BODY_FIRST_LINE], &out->first_line);
}

/* 0: it cannot be read. */
static SIGNAL_SAFE uint64_t key_of(struct runtime_scan *scan, uint32_t entry, uint64_t iseq,
                                   const struct fields *fields)
{
    uint64_t key = code_key_begin(entry), label[LABEL_KEY_WORDS];

    /* A label's bytes, or their length and place: what is evaluated again and again gets the addresses
     * of what was before. */
    if (!guarded_read(&scan->memory, label, fields->label + 2 * sizeof label[0], sizeof label))
        return 0;
    key = code_key_add(key, iseq);
    key = code_key_add(key, fields->code);
    key = code_key_add(key, fields->size);
    key = code_key_add(key, fields->first_line);
    key = code_key_add(key, fields->file);
    key = code_key_add(key, fields->owner);
    for (uint32_t i = 0; i < LABEL_KEY_WORDS; i++)
        key = code_key_add(key, label[i]);
    return key;
}

/* The real path, where there is one. */
static SIGNAL_SAFE uint32_t put_file(struct runtime_scan *scan, uint64_t file)
{
    uint64_t path;
    uint32_t bytes;

    if (!ruby_element(scan, file, 1, &path))
        return ruby_string(scan, file, scan->texts->file, FEED_CODE_FILE_MAX);
    bytes = ruby_string(scan, path, scan->texts->file, FEED_CODE_FILE_MAX);
    if (bytes || !ruby_element(scan, file, 0, &path))
        return bytes;
    return ruby_string(scan, path, scan->texts->file, FEED_CODE_FILE_MAX);
}

/* "block in area" with the owner before the name that it ends with. */
static SIGNAL_SAFE uint32_t put_name(struct runtime_scan *scan, uint32_t entry,
                                     const struct fields *fields)
{
    char *name = scan->texts->name, *base = (char *)scan->texts->raw;
    uint32_t bytes = ruby_string(scan, fields->label, name, FEED_CODE_NAME_MAX), owner_bytes,
             base_bytes = ruby_string(scan, fields->base_label, base, FEED_CODE_NAME_MAX);

    if (!fields->owner || !base_bytes || base[0] == '<' || base_bytes > bytes ||
        memcmp(&name[bytes - base_bytes], base, base_bytes) != 0)
        return bytes;
    bytes -= base_bytes;
    owner_bytes = ruby_owner(scan, entry, fields->owner, &name[bytes],
                             FEED_CODE_NAME_MAX - bytes - base_bytes);
    memcpy(&name[bytes + owner_bytes], base, base_bytes);
    return bytes + owner_bytes + base_bytes;
}

static SIGNAL_SAFE uint32_t tell(struct runtime_scan *scan, uint32_t entry,
                                 const struct fields *fields)
{
    struct runtime_texts *texts = scan->texts;
    struct feed_code_text text = { .runtime = FEED_RUNTIME_RUBY,
                                   .lines = FEED_LINES_PAIRS,
                                   .name = texts->name,
                                   .file = texts->file,
                                   .table = texts->table,
                                   .first_line = (uint32_t)(fields->first_line >> 1) };

    text.name_bytes = put_name(scan, entry, fields);
    text.file_bytes = put_file(scan, fields->file);
    text.table_bytes = ruby_lines(scan, entry, fields->body, fields->size);
    return feed_writer_code(scan->writer, &text);
}

static SIGNAL_SAFE uint32_t find_or_tell(struct runtime_scan *scan, uint32_t entry, uint64_t key,
                                         const struct fields *fields)
{
    uint32_t id = scan->cache ? code_cache_find(scan->cache, key) : 0;

    if (id)
        return id;
    id = tell(scan, entry, fields);
    if (scan->cache)
        code_cache_put(scan->cache, key, id);
    return id;
}

/* A frame's pc stands behind the instruction. */
static SIGNAL_SAFE uint32_t position_of(const struct ruby_code *code, const struct fields *fields)
{
    const uint64_t end = (uint64_t)fields->size * sizeof(uint64_t);
    uint64_t pc = code->newer_pc - fields->code <= end ? code->newer_pc : code->pc, at;

    if (pc - fields->code > end)
        return FEED_NO_POSITION;
    at = (pc - fields->code) / sizeof(uint64_t);
    return (uint32_t)(at ? at - 1 : 0);
}

void ruby_put_code(struct runtime_scan *scan, uint32_t entry, const struct ruby_code *code)
{
    struct fields fields = { .owner = code->owner };
    uint64_t key;

    if (!read_fields(scan, scan->writer->runtimes[entry].words, code->iseq, &fields))
        return;
    key = key_of(scan, entry, code->iseq, &fields);
    if (key)
        runtime_put(scan, find_or_tell(scan, entry, key, &fields), position_of(code, &fields));
}

static SIGNAL_SAFE uint32_t tell_cfunc(struct runtime_scan *scan, uint32_t entry,
                                       const struct ruby_method *method, uint64_t id)
{
    char *name = scan->texts->name;
    struct feed_code_text text = { .runtime = FEED_RUNTIME_RUBY,
                                   .lines = FEED_LINES_DIRECT,
                                   .name = name,
                                   .file = cfunc_file,
                                   .file_bytes = sizeof cfunc_file - 1 };
    uint32_t owner_bytes = ruby_owner(scan, entry, method->owner, name, FEED_CODE_NAME_MAX),
             bytes = ruby_id_name(scan, entry, id, &name[owner_bytes],
                                  FEED_CODE_NAME_MAX - owner_bytes);

    text.name_bytes = owner_bytes + bytes;
    return bytes ? feed_writer_code(scan->writer, &text) : 0;
}

void ruby_put_cfunc(struct runtime_scan *scan, uint32_t entry, uint64_t object)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    uint64_t key = code_key_begin(entry), name;
    struct ruby_method method;
    uint32_t id;

    if (!words[RUBY_NAMES] || !ruby_method(scan, object, &method) ||
        !word_at(scan, method.definition, words[RUBY_METHOD_ID], &name))
        return;
    key = code_key_add(key, method.owner);
    key = code_key_add(key, name);
    id = scan->cache ? code_cache_find(scan->cache, key) : 0;
    if (!id) {
        id = tell_cfunc(scan, entry, &method, name);
        if (scan->cache)
            code_cache_put(scan->cache, key, id);
    }
    if (id)
        runtime_put(scan, id, FEED_NO_POSITION);
}
