#include "codes.h"

#include <string.h>

const char *code_kind(const struct snapshot_function *function)
{
    return function->kind == SNAPSHOT_STUB ? "Stub" : "Native";
}

/* As the VM says of what is written in the language that it runs. */
const char *function_kind(const struct snapshot_function *function)
{
    return function->kind == SNAPSHOT_INTERPRETED ? "Dart" : code_kind(function);
}

void code_ticks_json(struct json_text *text, uint64_t inclusive, uint64_t exclusive)
{
    json_text_literal(text, ",\"inclusiveTicks\":");
    json_text_uint(text, inclusive);
    json_text_literal(text, ",\"exclusiveTicks\":");
    json_text_uint(text, exclusive);
}

void code_json(struct json_text *text, const struct snapshot_function *function, uint64_t inclusive,
               uint64_t exclusive)
{
    const char *number = strchr(function->id, '/');

    json_text_literal(text, "{\"kind\":");
    json_text_string(text, code_kind(function));
    code_ticks_json(text, inclusive, exclusive);
    json_text_literal(text,
                      ",\"ticks\":[],\"code\":{\"type\":\"@Code\",\"fixedId\":true,\"id\":\"code");
    json_text_raw(text, number, strlen(number));
    json_text_literal(text, "\",\"name\":");
    json_text_string(text, function->full_name);
    json_text_literal(text, ",\"kind\":");
    json_text_string(text, code_kind(function));
    json_text_literal(text, "}}");
}

void code_tag_json(struct json_text *text, const char *name, uint32_t number, uint64_t inclusive)
{
    json_text_literal(text, "{\"kind\":\"Tag\"");
    code_ticks_json(text, inclusive, 0);
    json_text_literal(text, ",\"ticks\":[],\"code\":{\"type\":\"@Code\",\"fixedId\":true,"
                            "\"id\":\"code/tag-");
    json_text_uint(text, number);
    json_text_literal(text, "\",\"name\":");
    json_text_string(text, name);
    json_text_literal(text, ",\"kind\":\"Tag\"}}");
}
