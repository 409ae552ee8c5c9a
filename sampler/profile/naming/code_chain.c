#include "code_chain.h"

#include "../store/frame.h"
#include "code_inlines.h"
#include "code_lines.h"

#include <string.h>

/* A frame of a script's module. */
struct code_at {
    uint32_t module, number, position;
};

/* "" is no file: then the function is known by its place alone. */
static const char *file_of(const struct feed_code_text *code)
{
    return code->file_bytes ? code->file : NULL;
}

static struct chain_frame frame_of(struct functions *functions, uint32_t module, uint32_t number,
                                   const struct feed_code_text *code, uint32_t line)
{
    const struct function_source source = { .module = module,
                                            .start = CODE_OFFSET(number, 0),
                                            .source_name =
                                                code->name_bytes ? code->name : "<unnamed>",
                                            .file = file_of(code),
                                            .line = code->first_line };

    return (struct chain_frame){ .function = functions_number(functions, &source),
                                 .line = line & ((1u << 30) - 1) };
}

/* The last row that is not behind the position. False: there is none, or the table is none. */
static bool find_row(const struct feed_code_text *code, uint32_t position,
                     struct code_inline_row *out, const uint8_t **frames)
{
    uint32_t rows, low = 0, high;

    if (code->table_bytes < 2 * sizeof(rows))
        return false;
    memcpy(&rows, code->table, sizeof(rows));
    if (rows > (code->table_bytes - 2 * sizeof(rows)) / sizeof(*out))
        return false;
    high = rows;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        memcpy(out, code->table + 2 * sizeof(rows) + middle * sizeof(*out), sizeof(*out));
        if (out->position <= position)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return false;
    memcpy(out, code->table + 2 * sizeof(rows) + (low - 1) * sizeof(*out), sizeof(*out));
    *frames = code->table + 2 * sizeof(rows) + rows * sizeof(*out);
    return out->count && out->count <= INLINE_CHAIN_MAX &&
           (uint64_t)out->first + out->count <=
               (uint64_t)(code->table + code->table_bytes - *frames) / sizeof(struct code_inline);
}

static uint32_t inlined_chain(const struct codes *codes, struct functions *functions,
                              const struct code_at *at, const struct feed_code_text *code,
                              struct chain_frame out[INLINE_CHAIN_MAX])
{
    struct code_inline_row row;
    const uint8_t *frames;
    uint32_t count = 0;

    if (at->position == FEED_NO_POSITION || !find_row(code, at->position, &row, &frames)) {
        out[0] = frame_of(functions, at->module, at->number, code, 0);
        return 1;
    }
    for (uint32_t i = 0; i < row.count; i++) {
        uint32_t module = at->module, number = at->number;
        struct feed_code_text inlined = *code;
        struct code_inline frame;

        memcpy(&frame, frames + (row.first + i) * sizeof(frame), sizeof(frame));
        if (frame.frame) {
            module = FRAME_KEY_MODULE(frame.frame);
            number = CODE_OFFSET_NUMBER(FRAME_KEY_OFFSET(frame.frame));
            if (!codes_get(codes, number, &inlined))
                continue;
        }
        out[count] = frame_of(functions, module, number, &inlined, frame.line);
        out[count].inlined = i + 1 < row.count;
        count++;
    }
    return count;
}

uint32_t code_chain(const struct codes *codes, struct functions *functions,
                    const struct module *module, uint64_t offset,
                    struct chain_frame out[INLINE_CHAIN_MAX])
{
    const struct code_at at = { module->number, CODE_OFFSET_NUMBER(offset),
                                CODE_OFFSET_POSITION(offset) };
    struct feed_code_text code;

    if (!codes_get(codes, at.number, &code))
        return 0;
    if (code.lines == FEED_LINES_INLINED)
        return inlined_chain(codes, functions, &at, &code, out);
    out[0] = frame_of(functions, at.module, at.number, &code,
                      at.position == FEED_NO_POSITION ? 0 : code_line(&code, at.position));
    return out[0].function ? 1 : 0;
}
