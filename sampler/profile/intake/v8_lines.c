#include "v8_lines.h"

#include "../naming/code_inlines.h"
#include "../naming/codes.h"
#include "../naming/inline_chains.h"
#include "../naming/line_tables.h"
#include "../store/frame.h"

#include <stdlib.h>
#include <string.h>

enum { TABLE_BYTES_MAX = 1 << 20 };

void v8_lines_free(struct v8_lines *lines)
{
    script_texts_free(&lines->texts);
    free(lines->table);
    *lines = (struct v8_lines){ 0 };
}

/* Where the tables of one code go. False: it is too long, or there is no memory. */
static bool put(struct v8_lines *lines, const void *bytes, uint32_t count)
{
    if (count > TABLE_BYTES_MAX - lines->bytes)
        return false;
    if (lines->bytes + count > lines->capacity) {
        uint32_t wanted = 2 * (lines->bytes + count);
        uint8_t *larger = realloc(lines->table, wanted);

        if (!larger)
            return false;
        lines->table = larger;
        lines->capacity = wanted;
    }
    memcpy(lines->table + lines->bytes, bytes, count);
    lines->bytes += count;
    return true;
}

/* The entry of a function counts as its first instruction. */
static uint32_t offset_of(const struct v8_entry *entry)
{
    return entry->offset ? (uint32_t)(entry->offset - 1) : 0;
}

static bool put_pair(struct v8_lines *lines, uint32_t position, uint32_t line)
{
    const uint32_t pair[] = { position, line };

    return put(lines, pair, sizeof(pair));
}

/* A script, and where a place in it is. */
struct script {
    const char *file;
    uint32_t units;
};

struct conversion {
    struct v8_lines *lines;
    int32_t pid;
    struct script script; /* the code's own */
    struct registry *registry;
    struct module_set *met;
};

static uint32_t line_at(const struct conversion *conversion, struct script script, uint32_t place)
{
    return script_line(&conversion->lines->texts, conversion->pid, script.file, script.units,
                       place);
}

/* One pair for each stretch of the same line. */
static void convert_places(const struct conversion *conversion, struct feed_code_text *code)
{
    struct line_table table = { code->table + sizeof(uint32_t), code->table + code->table_bytes };
    struct v8_entry entry = { 0 };
    uint32_t before = 0, place, call;

    while (v8_next_place(&table, &entry) && entry.offset < FEED_NO_POSITION) {
        uint32_t line;

        if (!v8_source_place(entry.source, &place, &call))
            continue;
        line = line_at(conversion, conversion->script, place);
        if (line != before && !put_pair(conversion->lines, offset_of(&entry), line))
            break;
        before = line;
    }
}

/* What the feed tells of optimized code: v8_optimized.h has it. */
struct optimized {
    const uint8_t *at, *end;
    struct inlined {
        struct script script;
        uint64_t frame;
        char file[FEED_CODE_FILE_MAX + 1];
    } * functions;
    const uint8_t *calls; /* of three words each */
    uint32_t function_count, call_count;
};

static bool take_word(struct optimized *optimized, uint32_t *out)
{
    if ((size_t)(optimized->end - optimized->at) < sizeof(*out))
        return false;
    memcpy(out, optimized->at, sizeof(*out));
    optimized->at += sizeof(*out);
    return true;
}

static bool take_bytes(struct optimized *optimized, uint64_t count, const uint8_t **out)
{
    if ((uint64_t)(optimized->end - optimized->at) < count)
        return false;
    *out = optimized->at;
    optimized->at += count;
    return true;
}

/* An inlined function is a code of its own, without positions. */
static bool take_function(const struct conversion *conversion, struct optimized *optimized,
                          struct inlined *out)
{
    uint32_t name_bytes, file_bytes, place, number, module;
    const uint8_t *texts;

    if (!take_word(optimized, &name_bytes) || !take_word(optimized, &file_bytes) ||
        !take_word(optimized, &place) || !take_word(optimized, &out->script.units) ||
        name_bytes > FEED_CODE_NAME_MAX || file_bytes > FEED_CODE_FILE_MAX ||
        !take_bytes(optimized, ((uint64_t)name_bytes + file_bytes + 3) & ~UINT64_C(3), &texts))
        return false;
    memcpy(out->file, texts + name_bytes, file_bytes);
    out->file[file_bytes] = 0;
    out->script.file = out->file;
    const struct feed_code_text text = { .runtime = FEED_RUNTIME_V8,
                                         .lines = FEED_LINES_DIRECT,
                                         .name = (const char *)texts,
                                         .file = out->file,
                                         .name_bytes = name_bytes,
                                         .file_bytes = (uint32_t)strlen(out->file),
                                         .first_line = line_at(conversion, out->script, place) };
    number = codes_number(registry_codes(conversion->registry), &text);
    module = number && *out->file
                 ? registry_script(conversion->registry, FEED_RUNTIME_V8, out->file)
                 : 0;
    if (!module)
        return false;
    module_set_add(conversion->met, module);
    out->frame = FRAME_KEY(module, CODE_OFFSET(number, 0));
    return true;
}

static bool open_optimized(const struct conversion *conversion, const struct feed_code_text *code,
                           struct optimized *out)
{
    uint32_t units;

    *out = (struct optimized){ .at = code->table, .end = code->table + code->table_bytes };
    if (!take_word(out, &units) || !take_word(out, &out->function_count) ||
        !take_word(out, &out->call_count) || out->function_count > FEED_CODE_TABLE_MAX)
        return false;
    out->functions = calloc(out->function_count + 1, sizeof(*out->functions));
    if (!out->functions)
        return false;
    for (uint32_t i = 0; i < out->function_count; i++)
        if (!take_function(conversion, out, &out->functions[i]))
            return false;
    return take_bytes(out, (uint64_t)out->call_count * 12, &out->calls);
}

struct chain {
    struct code_inline frames[INLINE_CHAIN_MAX];
    uint32_t count;
};

/* From the instruction's own function outwards. */
static void chain_of(const struct conversion *conversion, const struct optimized *optimized,
                     uint64_t source, struct chain *out)
{
    uint32_t place, call, function;

    *out = (struct chain){ 0 };
    while (v8_source_place(source, &place, &call) && call && call <= optimized->call_count &&
           out->count < INLINE_CHAIN_MAX - 1) {
        const uint8_t *inlined = optimized->calls + (call - 1) * UINT64_C(12);

        memcpy(&source, inlined, sizeof(source));
        memcpy(&function, inlined + sizeof(source), sizeof(function));
        if (function >= optimized->function_count)
            break;
        out->frames[out->count++] =
            (struct code_inline){ .frame = optimized->functions[function].frame,
                                  .line = line_at(conversion, optimized->functions[function].script,
                                                  place) };
    }
    out->frames[out->count++] =
        (struct code_inline){ .line = line_at(conversion, conversion->script, place) };
}

static bool same_chain(const struct chain *left, const struct chain *right)
{
    return left->count == right->count &&
           !memcmp(left->frames, right->frames, left->count * sizeof(left->frames[0]));
}

/* Rows, or their frames: they lie behind each other. Returns how many rows; 0: it is too long. */
static uint32_t put_chains(const struct conversion *conversion, const struct optimized *optimized,
                           bool frames)
{
    struct line_table table = { optimized->at, optimized->end };
    struct v8_entry entry = { 0 };
    struct chain chain, before = { 0 };
    uint32_t rows = 0, first = 0;

    while (v8_next_place(&table, &entry) && entry.offset < FEED_NO_POSITION) {
        chain_of(conversion, optimized, entry.source, &chain);
        if (same_chain(&chain, &before))
            continue;
        const struct code_inline_row row = { offset_of(&entry), first, chain.count };
        if (frames ? !put(conversion->lines, chain.frames,
                          chain.count * (uint32_t)sizeof(chain.frames[0]))
                   : !put(conversion->lines, &row, sizeof(row)))
            return 0;
        first += chain.count;
        before = chain;
        rows++;
    }
    return rows;
}

/* False: it says nothing that can be used. */
static bool convert_optimized(const struct conversion *conversion, struct feed_code_text *code)
{
    struct v8_lines *lines = conversion->lines;
    struct optimized optimized;
    uint32_t head[2] = { 0 };
    bool done = open_optimized(conversion, code, &optimized) && put(lines, head, sizeof(head));

    head[0] = done ? put_chains(conversion, &optimized, false) : 0;
    done = head[0] && put_chains(conversion, &optimized, true);
    if (done)
        memcpy(lines->table, head, sizeof(head));
    free(optimized.functions);
    return done;
}

void v8_lines_convert(struct v8_lines *lines, int32_t pid, struct feed_code_text *code,
                      struct registry *registry, struct module_set *met)
{
    struct conversion conversion = { lines, pid, { code->file, 0 }, registry, met };
    bool inlined = false;

    if (code->lines == FEED_LINES_INLINED) /* that no program tells */
        code->table_bytes = 0;
    else if (code->lines != FEED_LINES_V8 && code->lines != FEED_LINES_V8_CHARACTER &&
             code->lines != FEED_LINES_V8_OPTIMIZED)
        return;
    lines->bytes = 0;
    if (code->table_bytes >= sizeof(uint32_t))
        memcpy(&conversion.script.units, code->table, sizeof(uint32_t));
    code->first_line = line_at(&conversion, conversion.script, code->first_line);
    if (code->lines == FEED_LINES_V8 && code->table_bytes >= sizeof(uint32_t))
        convert_places(&conversion, code);
    else if (code->lines == FEED_LINES_V8_OPTIMIZED)
        inlined = convert_optimized(&conversion, code);
    if (!inlined && code->lines != FEED_LINES_V8) {
        lines->bytes = 0;
        put_pair(lines, 0, code->first_line);
    }
    code->lines = inlined ? FEED_LINES_INLINED : FEED_LINES_PAIRS;
    code->table = lines->table;
    code->table_bytes = lines->bytes;
}
