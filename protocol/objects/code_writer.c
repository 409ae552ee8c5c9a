#include "code_writer.h"

#include "../generated/words.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

enum { WORK_INSTRUCTION = 4 };

struct code_writer {
    struct reply_stream stream; /* the first: this is one */
    struct code_request *code;
    const struct code_listing *listing;
    uint32_t next;
};

static void put_bytes(struct json_text *text, const struct code_instruction *instruction)
{
    static const char digits[] = "0123456789abcdef";
    char hex[2 * CODE_BYTES_MAX];
    size_t count = 0;

    for (uint8_t i = 0; i < instruction->size && i < CODE_BYTES_MAX; i++) {
        hex[count++] = digits[instruction->bytes[i] >> 4];
        hex[count++] = digits[instruction->bytes[i] & 15];
    }
    json_text_literal(text, ",\"bytes\":\"");
    json_text_raw(text, hex, count);
    json_text_literal(text, "\"");
}

/* before: ",\"file\":". Nothing where there is no text. */
static void put_text(struct json_text *text, const char *before, const char *value)
{
    if (!value || !*value)
        return;
    json_text_raw(text, before, strlen(before));
    json_text_string(text, value);
}

static void put_instruction(struct json_text *text, const struct code_instruction *instruction)
{
    json_text_member(text, "{\"offset\":", (int64_t)instruction->offset);
    put_bytes(text, instruction);
    json_text_literal(text, ",\"mnemonic\":");
    json_text_string(text, instruction->mnemonic);
    put_text(text, ",\"operands\":", instruction->operands);
    if (instruction->target <= INT64_MAX)
        json_text_member(text, ",\"target\":", (int64_t)instruction->target);
    put_text(text, ",\"called\":", instruction->called);
    put_text(text, ",\"function\":", instruction->function);
    put_text(text, ",\"file\":", instruction->file);
    if (instruction->line)
        json_text_member(text, ",\"line\":", instruction->line);
    json_text_literal(text, "}");
}

static void put_next(struct reply_stream *stream)
{
    struct code_writer *writer = (struct code_writer *)stream;

    if (writer->next == writer->listing->count) {
        json_text_literal(&stream->carry, "]}}");
        stream->done = true;
        return;
    }
    work_off(stream->work, WORK_INSTRUCTION);
    if (writer->next)
        json_text_literal(&stream->carry, ",");
    put_instruction(&stream->carry, &writer->listing->instructions[writer->next++]);
}

static void free_writer(struct reply_stream *stream)
{
    struct code_writer *writer = (struct code_writer *)stream;

    profile_code_free(writer->code);
    free(writer);
}

static const struct reply_stream_kind kind = { put_next, free_writer };

static void put_head(struct json_text *text, const struct code_listing *listing)
{
    json_text_literal(text, "{\"type\":\"" TYPE_PRIVATE_DISASSEMBLY "\"");
    if (listing->load_bias)
        json_text_member(text, ",\"loadBias\":", (int64_t)listing->load_bias);
    if (listing->next)
        json_text_member(text, ",\"next\":", (int64_t)listing->next);
    put_text(text, ",\"reason\":", listing->reason);
    json_text_literal(text, ",\"instructions\":[");
}

int code_writer_new(struct reply_stream **out, struct code_request *code, const char *envelope)
{
    struct code_writer *writer = calloc(1, sizeof(*writer));

    if (!writer) {
        profile_code_free(code);
        return -ISOSCOPE_NO_MEMORY;
    }
    writer->stream.kind = &kind;
    writer->code = code;
    writer->listing = profile_code_listing(code);
    json_text_raw(&writer->stream.carry, envelope, strlen(envelope));
    put_head(&writer->stream.carry, writer->listing);
    *out = &writer->stream;
    return 0;
}
