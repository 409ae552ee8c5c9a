#include "lua_code.h"
#include "lua_names.h"

#include <string.h>

enum {
    ANCHOR_DISTANCE_MAX = 256, /* instructions: 128 in Lua 5.4 */
    LINE_DIGITS = 10,
};

struct anchor {
    int32_t instruction, line;
};

static const char main_name[] = "main chunk", unnamed_begins[] = "function <", c_file[] = "[C]",
                  text_begins[] = "[string \"", text_ends[] = "\"]";

/* The last that is not behind the instruction: lines are told from there on. False: there is none. */
static SIGNAL_SAFE bool find_anchor(struct runtime_scan *scan, const struct lua_proto *proto,
                                    int32_t instruction, struct anchor *out)
{
    uint32_t low = 0, high = (uint32_t)proto->anchor_count;
    struct anchor anchor;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (!guarded_read(&scan->memory, &anchor, proto->anchors + middle * sizeof anchor,
                          sizeof anchor))
            return false;
        if (anchor.instruction > instruction) {
            high = middle;
            continue;
        }
        *out = anchor;
        low = middle + 1;
    }
    return low != 0;
}

/* Each instruction has a byte: how many lines it is behind the one before. */
static SIGNAL_SAFE uint32_t line_of(struct runtime_scan *scan, const struct lua_proto *proto,
                                    uint32_t place)
{
    struct anchor from = { -1, proto->first_line };
    int8_t steps[ANCHOR_DISTANCE_MAX];
    uint32_t count;

    if (place >= (uint32_t)proto->line_count)
        return FEED_NO_POSITION;
    find_anchor(scan, proto, (int32_t)place, &from);
    count = place - (uint32_t)from.instruction;
    if (count > sizeof steps ||
        !guarded_read(&scan->memory, steps, proto->lines + (uint32_t)(from.instruction + 1), count))
        return FEED_NO_POSITION;
    for (uint32_t i = 0; i < count; i++)
        from.line += steps[i];
    return from.line > 0 ? (uint32_t)from.line : FEED_NO_POSITION;
}

static SIGNAL_SAFE uint32_t put_text(char *out, const char *text, uint32_t bytes)
{
    memcpy(out, text, bytes);
    return bytes;
}

/* A chunk that is no file has its text as its name, whose first line is shown. */
static SIGNAL_SAFE uint32_t put_text_source(struct runtime_scan *scan, uint32_t bytes)
{
    char *out = scan->texts->file;
    const char *text = (const char *)scan->texts->raw;
    uint32_t line = 0, length;

    while (line < bytes && line < FEED_CODE_NAME_MAX && text[line] != '\n')
        line++;
    length = put_text(out, text_begins, sizeof text_begins - 1);
    length += put_text(&out[length], text, line);
    if (line < bytes)
        length += put_text(&out[length], "...", 3);
    return length + put_text(&out[length], text_ends, sizeof text_ends - 1);
}

static SIGNAL_SAFE uint32_t put_file(struct runtime_scan *scan, const struct lua_proto *proto)
{
    char *source = (char *)scan->texts->raw;
    const uint32_t bytes = lua_put_string(scan, proto->source, source, FEED_CODE_FILE_MAX);

    if (!bytes) /* stripped */
        return put_text(scan->texts->file, "?", 1);
    if (source[0] == '@' || source[0] == '=')
        return put_text(scan->texts->file, source + 1, bytes - 1);
    return put_text_source(scan, bytes);
}

static SIGNAL_SAFE uint32_t put_number(char *out, uint32_t number)
{
    char digits[LINE_DIGITS];
    uint32_t count = 0, bytes = 0;

    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) && count < LINE_DIGITS);
    while (count)
        out[bytes++] = digits[--count];
    return bytes;
}

/* As Lua's own traceback has it: "function <shapes.lua:12>". */
static SIGNAL_SAFE uint32_t put_unnamed(struct runtime_scan *scan, const struct lua_proto *proto,
                                        uint32_t file_bytes)
{
    enum { ROOM = FEED_CODE_NAME_MAX - sizeof unnamed_begins - LINE_DIGITS - 2 };
    char *name = scan->texts->name;
    const char *file = scan->texts->file;
    uint32_t from = file_bytes, bytes = put_text(name, unnamed_begins, sizeof unnamed_begins - 1);

    while (from && file[from - 1] != '/')
        from--;
    bytes += put_text(&name[bytes], &file[from],
                      file_bytes - from < ROOM ? file_bytes - from : (uint32_t)ROOM);
    name[bytes++] = ':';
    bytes += put_number(&name[bytes], (uint32_t)proto->first_line);
    name[bytes++] = '>';
    return bytes;
}

/* Functions are made anew at the addresses of those that are gone. */
static SIGNAL_SAFE uint64_t key_of(struct runtime_scan *scan, uint32_t entry,
                                   const struct lua_proto *proto)
{
    uint64_t key = code_key_begin(entry), text;

    key = code_key_add(key, proto->code);
    key = code_key_add(key, proto->lines);
    key = code_key_add(key, proto->source);
    key = code_key_add(key, (uint64_t)proto->first_line << 32 | (uint32_t)proto->last_line);
    key = code_key_add(key, (uint64_t)proto->code_count << 32 | (uint32_t)proto->constant_count);
    if (proto->source && guarded_word(&scan->memory, proto->source + LUA_TEXT_AT, &text))
        key = code_key_add(key, text);
    return key;
}

static SIGNAL_SAFE uint32_t tell(struct runtime_scan *scan, uint32_t name_bytes,
                                 uint32_t file_bytes, uint32_t first_line)
{
    const struct feed_code_text text = { .runtime = FEED_RUNTIME_LUA,
                                         .lines = FEED_LINES_DIRECT,
                                         .name = scan->texts->name,
                                         .file = scan->texts->file,
                                         .name_bytes = name_bytes,
                                         .file_bytes = file_bytes,
                                         .first_line = first_line };

    return feed_writer_code(scan->writer, &text);
}

static SIGNAL_SAFE uint32_t find(const struct runtime_scan *scan, uint64_t key)
{
    return scan->cache ? code_cache_find(scan->cache, key) : 0;
}

static SIGNAL_SAFE void keep(struct runtime_scan *scan, uint64_t key, uint32_t id)
{
    if (scan->cache)
        code_cache_put(scan->cache, key, id);
}

/* The first name that it is called by stays. */
static SIGNAL_SAFE uint32_t lua_function(struct runtime_scan *scan, uint32_t entry,
                                         const struct lua_call *call, const struct lua_proto *proto)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    const uint64_t key = key_of(scan, entry, proto), unnamed_key = code_key_add(key, 1);
    uint32_t id = find(scan, key), name_bytes, file_bytes;

    if (id)
        return id;
    name_bytes = proto->first_line
                     ? lua_put_called_name(scan, words, call, scan->texts->name, FEED_CODE_NAME_MAX)
                     : put_text(scan->texts->name, main_name, sizeof main_name - 1);
    if (!name_bytes && (id = find(scan, unnamed_key)))
        return id;
    file_bytes = put_file(scan, proto);
    id = tell(scan, name_bytes ? name_bytes : put_unnamed(scan, proto, file_bytes), file_bytes,
              (uint32_t)proto->first_line);
    keep(scan, name_bytes ? key : unnamed_key, id);
    return id;
}

static SIGNAL_SAFE bool put_c_call(struct runtime_scan *scan, uint32_t entry,
                                   const struct lua_call *call)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    const uint64_t key = code_key_add(code_key_begin(entry), call->function);
    uint32_t id = find(scan, key), name_bytes;

    if (!id) {
        name_bytes = lua_put_called_name(scan, words, call, scan->texts->name, FEED_CODE_NAME_MAX);
        if (!name_bytes)
            return false;
        id = tell(scan, name_bytes, put_text(scan->texts->file, c_file, sizeof c_file - 1), 0);
        keep(scan, key, id);
    }
    runtime_put(scan, id, FEED_NO_POSITION);
    return true;
}

bool lua_put_call(struct runtime_scan *scan, uint32_t entry, const struct lua_call *call,
                  uint64_t instruction)
{
    const uint64_t *words = scan->writer->runtimes[entry].words;
    struct lua_proto proto;
    uint32_t place, line = FEED_NO_POSITION;

    if (call->status & LUA_IS_C)
        return put_c_call(scan, entry, call);
    if (!lua_read_proto(scan, words, call, &proto))
        return false;
    if (lua_place(&proto, instruction, &place) || lua_place(&proto, call->instruction, &place))
        line = line_of(scan, &proto, place);
    runtime_put(scan, lua_function(scan, entry, call, &proto), line);
    return true;
}
