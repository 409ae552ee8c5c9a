#include "cpython_code.h"
#include "cpython_thread.h"

#include <string.h>

enum {
    OWN_NAME_BYTES = 512, /* of the tick's stack, which may be small */
    OWN_FILE_BYTES = 1024,
    UNITS_AT_ONCE = 64,
    PAGE_BYTES = 4096,
    STATE_COMPACT = 1 << 3, /* from the kind on: three bits, and two flags */
    STATE_ASCII = 1 << 4,
    STATE_KIND = 7,
    REPLACEMENT = 0xfffd
};

struct fields {
    uint64_t name, file, lines;
    uint32_t first_line;
};

/* Where texts go that cannot be taken from where they are. table NULL: that one can. */
struct room {
    char *name, *file;
    uint8_t *table;
    uint32_t name_bytes, file_bytes;
};

struct text {
    const char *bytes;
    uint32_t size;
};

/* All of it is mapped. */
static SIGNAL_SAFE bool is_here(struct guarded_memory *memory, uint64_t address, uint64_t bytes)
{
    uint64_t last = address + bytes - 1;
    char byte;

    for (uint64_t at = address; bytes && at <= last; at = (at | (PAGE_BYTES - 1)) + 1)
        if (!guarded_read(memory, &byte, at, 1))
            return false;
    return !bytes || guarded_read(memory, &byte, last, 1);
}

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

/* Characters of unit bytes each. */
static SIGNAL_SAFE bool read_wide(struct guarded_memory *memory, uint64_t address, uint64_t length,
                                  uint32_t unit, char *out, uint32_t room, struct text *text)
{
    uint8_t units[UNITS_AT_ONCE * 4];
    uint32_t put = 0, character;

    for (uint64_t done = 0; done < length;) {
        uint32_t count =
            length - done < UNITS_AT_ONCE ? (uint32_t)(length - done) : (uint32_t)UNITS_AT_ONCE;

        if (!guarded_read(memory, units, address + done * unit, (uint64_t)count * unit))
            return false;
        for (uint32_t i = 0; i < count; i++) {
            character = 0;
            memcpy(&character, &units[i * unit], unit);
            if (put + 4 > room) {
                *text = (struct text){ out, put };
                return true;
            }
            put += put_utf8(&out[put], character);
        }
        done += count;
    }
    *text = (struct text){ out, put };
    return true;
}

/* max: bytes that are kept of an ASCII text. */
static SIGNAL_SAFE bool read_string(struct runtime_scan *scan, const uint64_t *words,
                                    uint64_t string, uint32_t max, char *out, uint32_t room,
                                    struct text *text)
{
    uint64_t length, address;
    uint32_t state, kind;

    if (!cpython_field(scan, string, words[CPYTHON_STRING_LENGTH], &length) ||
        !guarded_read(&scan->memory, &state, string + words[CPYTHON_STRING_STATE], sizeof state))
        return false;
    state >>= words[CPYTHON_STRING_SHIFT] & 31;
    kind = state & STATE_KIND;
    if (!(state & STATE_COMPACT) || (kind != 1 && kind != 2 && kind != 4) || length >> 32)
        return false;
    if (!(state & STATE_ASCII))
        return read_wide(&scan->memory, string + words[CPYTHON_STRING_OTHER], length, kind, out,
                         room, text);
    address = string + words[CPYTHON_STRING_ASCII];
    if (length > max)
        length = max;
    if (!scan->memory.pid) {
        *text = (struct text){ (const char *)address, (uint32_t)length };
        return is_here(&scan->memory, address, length);
    }
    if (length > room)
        length = room;
    *text = (struct text){ out, (uint32_t)length };
    return guarded_read(&scan->memory, out, address, length);
}

static SIGNAL_SAFE void read_table(struct runtime_scan *scan, const uint64_t *words,
                                   uint64_t bytes, uint8_t *out, struct feed_code_text *text)
{
    uint64_t size, address = bytes + words[CPYTHON_BYTES_DATA];

    if (!cpython_field(scan, bytes, words[CPYTHON_BYTES_SIZE], &size) || !size ||
        size > FEED_CODE_TABLE_MAX)
        return;
    if (out) {
        if (!guarded_read(&scan->memory, out, address, size))
            return;
        text->table = out;
    } else {
        if (!is_here(&scan->memory, address, size))
            return;
        text->table = (const uint8_t *)address;
    }
    text->table_bytes = (uint32_t)size;
}

static SIGNAL_SAFE uint32_t tell(struct runtime_scan *scan, const uint64_t *words,
                                 const struct fields *fields, const struct room *room)
{
    struct text name, file;
    struct feed_code_text text = { .runtime = FEED_RUNTIME_CPYTHON,
                                   .lines = (enum feed_code_lines)words[CPYTHON_LINES],
                                   .first_line = fields->first_line };

    if (!read_string(scan, words, fields->name, FEED_CODE_NAME_MAX, room->name, room->name_bytes,
                     &name))
        name = (struct text){ "?", 1 };
    if (!read_string(scan, words, fields->file, FEED_CODE_FILE_MAX, room->file, room->file_bytes,
                     &file))
        file = (struct text){ "?", 1 };
    text.name = name.bytes;
    text.name_bytes = name.size;
    text.file = file.bytes;
    text.file_bytes = file.size;
    read_table(scan, words, fields->lines, room->table, &text);
    return feed_writer_code(scan->writer, &text);
}

static SIGNAL_SAFE __attribute__((noinline)) uint32_t
tell_own(struct runtime_scan *scan, const uint64_t *words, const struct fields *fields)
{
    char name[OWN_NAME_BYTES], file[OWN_FILE_BYTES];
    const struct room room = { name, file, NULL, sizeof name, sizeof file };

    return tell(scan, words, fields, &room);
}

/* Of another process: on the service's stack, which is large. */
static SIGNAL_SAFE __attribute__((noinline)) uint32_t
tell_other(struct runtime_scan *scan, const uint64_t *words, const struct fields *fields)
{
    char name[FEED_CODE_NAME_MAX], file[FEED_CODE_FILE_MAX];
    uint8_t table[FEED_CODE_TABLE_MAX];
    const struct room room = { name, file, table, sizeof name, sizeof file };

    return tell(scan, words, fields, &room);
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
    *id = scan->memory.pid ? tell_other(scan, words, &fields) : tell_own(scan, words, &fields);
    if (scan->cache)
        code_cache_put(scan->cache, key, *id);
    return true;
}
