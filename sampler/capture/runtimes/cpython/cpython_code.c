#include "cpython_code.h"
#include "cpython_thread.h"

#include <string.h>

enum {
    STATE_COMPACT = 1 << 3, /* from the kind on: three bits, and two flags */
    STATE_ASCII = 1 << 4,
    STATE_KIND = 7,
    UTF8_MAX = 4,
    REPLACEMENT = 0xfffd
};

struct fields {
    uint64_t name, file, lines;
    uint32_t first_line;
};

static SIGNAL_SAFE uint32_t put_utf8(char *out, uint32_t character)
{
    if (character < 0x80) {
        out[0] = (char)character;
        return 1;
    }
    if (character < 0x800) {
        out[0] = (char)(0xc0 | character >> 6);
        out[1] = (char)(0x80 | (character & 0x3f));
        return 2;
    }
    /* Lone surrogates stand for bytes of file names that were no UTF-8. */
    if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000))
        character = REPLACEMENT;
    if (character < 0x10000) {
        out[0] = (char)(0xe0 | character >> 12);
        out[1] = (char)(0x80 | (character >> 6 & 0x3f));
        out[2] = (char)(0x80 | (character & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | character >> 18);
    out[1] = (char)(0x80 | (character >> 12 & 0x3f));
    out[2] = (char)(0x80 | (character >> 6 & 0x3f));
    out[3] = (char)(0x80 | (character & 0x3f));
    return 4;
}

/* Of unit bytes each. Returns how many bytes were put. */
static SIGNAL_SAFE uint32_t put_characters(const uint8_t *units, uint64_t length, uint32_t unit,
                                           char *out, uint32_t room)
{
    uint32_t put = 0;

    for (uint64_t i = 0; i < length && put + UTF8_MAX <= room; i++) {
        uint32_t character = 0;

        memcpy(&character, &units[i * unit], unit);
        put += put_utf8(&out[put], character);
    }
    return put;
}

/* What is longer is cut. Returns its bytes; 0: it cannot be read. */
static SIGNAL_SAFE uint32_t read_string(struct runtime_scan *scan, const uint64_t *words,
                                        uint64_t string, char *out, uint32_t room)
{
    uint64_t length;
    uint32_t state, kind;

    if (!cpython_field(scan, string, words[CPYTHON_STRING_LENGTH], &length) ||
        !guarded_read(&scan->memory, &state, string + words[CPYTHON_STRING_STATE], sizeof state))
        return 0;
    state >>= words[CPYTHON_STRING_SHIFT] & 31;
    kind = state & STATE_KIND;
    if (!(state & STATE_COMPACT) || (kind != 1 && kind != 2 && kind != 4))
        return 0;
    if (length > room)
        length = room;
    if (state & STATE_ASCII)
        return guarded_read(&scan->memory, out, string + words[CPYTHON_STRING_ASCII], length)
                   ? (uint32_t)length
                   : 0;
    return guarded_read(&scan->memory, scan->texts->raw, string + words[CPYTHON_STRING_OTHER],
                        length * kind)
               ? put_characters(scan->texts->raw, length, kind, out, room)
               : 0;
}

static SIGNAL_SAFE uint32_t read_table(struct runtime_scan *scan, const uint64_t *words,
                                       uint64_t table)
{
    uint64_t bytes;

    return cpython_field(scan, table, words[CPYTHON_BYTES_SIZE], &bytes) &&
                   bytes <= FEED_CODE_TABLE_MAX &&
                   guarded_read(&scan->memory, scan->texts->table,
                                table + words[CPYTHON_BYTES_DATA], bytes)
               ? (uint32_t)bytes
               : 0;
}

static SIGNAL_SAFE uint32_t tell(struct runtime_scan *scan, const uint64_t *words,
                                 const struct fields *fields)
{
    struct runtime_texts *texts = scan->texts;
    struct feed_code_text text = { .runtime = FEED_RUNTIME_CPYTHON,
                                   .lines = (enum feed_code_lines)words[CPYTHON_LINES],
                                   .name = texts->name,
                                   .file = texts->file,
                                   .table = texts->table,
                                   .first_line = fields->first_line };

    text.name_bytes = read_string(scan, words, fields->name, texts->name, FEED_CODE_NAME_MAX);
    text.file_bytes = read_string(scan, words, fields->file, texts->file, FEED_CODE_FILE_MAX);
    text.table_bytes = read_table(scan, words, fields->lines);
    return feed_writer_code(scan->writer, &text);
}

/* 0: it is none. */
static SIGNAL_SAFE uint64_t key_of(struct runtime_scan *scan, const uint64_t *words, uint32_t entry,
                                   uint64_t code, struct fields *fields)
{
    uint64_t type, hash, table[2] = { 0 }, key = code_key_begin(entry);

    if (!cpython_field(scan, code, words[CPYTHON_OBJECT_TYPE], &type) ||
        type != words[CPYTHON_CODE_TYPE] ||
        !cpython_field(scan, code, words[CPYTHON_CODE_NAME], &fields->name) ||
        !cpython_field(scan, code, words[CPYTHON_CODE_FILE], &fields->file) ||
        !cpython_field(scan, code, words[CPYTHON_CODE_LINES], &fields->lines) ||
        !guarded_read(&scan->memory, &fields->first_line, code + words[CPYTHON_CODE_FIRST_LINE],
                      sizeof fields->first_line) ||
        !cpython_field(scan, fields->name, words[CPYTHON_STRING_HASH], &hash) ||
        !cpython_field(scan, fields->lines, words[CPYTHON_BYTES_SIZE], &table[0]))
        return 0;
    /* What is shorter is known by its size. */
    if (table[0] >= sizeof table[1] &&
        !cpython_field(scan, fields->lines, words[CPYTHON_BYTES_DATA], &table[1]))
        return 0;
    key = code_key_add(key, code);
    key = code_key_add(key, fields->first_line);
    key = code_key_add(key, fields->name);
    key = code_key_add(key, hash);
    key = code_key_add(key, fields->file);
    key = code_key_add(key, fields->lines);
    key = code_key_add(key, table[0]);
    return code_key_add(key, table[1]);
}

bool cpython_code(struct runtime_scan *scan, uint32_t entry, uint64_t code, uint32_t *id)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    struct fields fields;
    uint64_t key = key_of(scan, words, entry, code, &fields);

    *id = 0;
    if (!key)
        return false;
    if (scan->cache)
        *id = code_cache_find(scan->cache, key);
    if (*id)
        return true;
    *id = tell(scan, words, &fields);
    if (scan->cache)
        code_cache_put(scan->cache, key, *id);
    return true;
}

bool cpython_text(struct runtime_scan *scan, const uint64_t *words, uint64_t string, char *out,
                  uint32_t room)
{
    uint32_t bytes = read_string(scan, words, string, out, room - 1);

    out[bytes] = 0;
    return bytes != 0;
}
