#include "told_code.h"

#include <string.h>

static_assert(sizeof(struct isoscope_code_text) <= sizeof(struct runtime_texts), "room for both");
static_assert(sizeof(((struct isoscope_code_text *)0)->lines) <= FEED_CODE_TABLE_MAX, "kept");

/* Each provider's functions are its own. */
static SIGNAL_SAFE uint64_t key_of(const struct provider_range *provider,
                                   const struct isoscope_code *code)
{
    uint64_t key = code_key_begin(FEED_RUNTIMES_MAX);

    key = code_key_add(key, (uint64_t)provider->code);
    key = code_key_add(key, (uint64_t)provider->context);
    for (uint32_t i = 0; i < sizeof code->key / sizeof code->key[0]; i++)
        key = code_key_add(key, code->key[i]);
    return key;
}

static SIGNAL_SAFE uint32_t length_of(const char *text, uint32_t max)
{
    uint32_t length = 0;

    while (length < max && text[length])
        length++;
    return length;
}

static SIGNAL_SAFE uint32_t describe(struct runtime_scan *scan,
                                     const struct provider_range *provider,
                                     const struct isoscope_native_frame *native,
                                     const struct isoscope_code *code)
{
    struct isoscope_code_text *text = (struct isoscope_code_text *)scan->texts;
    struct feed_code_text out = { .runtime = FEED_RUNTIME_OTHER };

    memset(text, 0, offsetof(struct isoscope_code_text, lines));
    provider->describe(provider->context, native, code, text);
    out.name = text->name;
    out.name_bytes = length_of(text->name, sizeof text->name);
    out.file = text->file;
    out.file_bytes = length_of(text->file, sizeof text->file);
    out.first_line = text->first_line;
    if (text->line_count && text->line_count <= ISOSCOPE_CODE_LINES_MAX) {
        out.lines = FEED_LINES_PAIRS;
        out.table = (const uint8_t *)text->lines;
        out.table_bytes = text->line_count * (uint32_t)sizeof text->lines[0];
    }
    return feed_writer_code(scan->writer, &out);
}

uint64_t told_code_frame(struct runtime_scan *scan, const struct provider_range *provider,
                         const struct isoscope_native_frame *native,
                         const struct isoscope_code *code)
{
    uint64_t key = key_of(provider, code);
    uint32_t position = code->position < FEED_NO_POSITION ? code->position : FEED_NO_POSITION;
    uint32_t id = code_cache_find(scan->cache, key);

    if (!id) {
        id = describe(scan, provider, native, code);
        code_cache_put(scan->cache, key, id);
    }
    return FEED_FRAME_CODE(id, position);
}
