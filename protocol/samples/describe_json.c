#include "describe_json.h"

#include "../objects/uris.h"

#include <string.h>

static const char *const kind_names[] = {
#define KIND_NAME(name, word) [SNAPSHOT_##name] = word,
    SNAPSHOT_KINDS(KIND_NAME)
#undef KIND_NAME
};

static void put_id(struct json_text *text, const char *before, const char *id)
{
    json_text_raw(text, before, strlen(before));
    json_text_string(text, id);
}

/* A name that is not the one before it. */
static void put_other_name(struct json_text *text, const char *member, const char *name,
                           const char *before)
{
    if (!strcmp(name, before))
        return;
    json_text_raw(text, member, strlen(member));
    json_text_string(text, name);
}

/* Where it is: in its module, and in the source. */
static void put_origin(struct json_text *text, const struct snapshot_function *function)
{
    if (function->offset != SNAPSHOT_NO_OFFSET) {
        json_text_literal(text, ",\"offset\":");
        json_text_uint(text, function->offset);
    }
    if (function->size) {
        json_text_literal(text, ",\"size\":");
        json_text_uint(text, function->size);
    }
    if (function->file) {
        json_text_literal(text, ",\"file\":");
        json_text_string(text, function->file);
    }
    if (function->line) {
        json_text_literal(text, ",\"line\":");
        json_text_uint(text, function->line);
    }
}

void describe_function_json(struct json_text *text, const struct snapshot_function *function,
                            const struct snapshot_library *library)
{
    put_id(text, "\"id\":", function->id);
    json_text_literal(text, ",\"name\":");
    json_text_string(text, function->name);
    put_id(text, ",\"owner\":{\"type\":\"@Library\",\"id\":", library->id);
    json_text_literal(text, "}");
    put_other_name(text, ",\"fullName\":", function->full_name, function->name);
    put_other_name(text, ",\"rawName\":", function->raw_name, function->name);
    json_text_literal(text, ",\"kind\":");
    json_text_string(text, kind_names[function->kind]);
    if (library->runtime)
        put_id(text, ",\"runtime\":", library->runtime);
    put_origin(text, function);
}

static void put_reason(struct json_text *text, const char *member, const char *reason)
{
    if (!reason)
        return;
    json_text_raw(text, member, strlen(member));
    json_text_string(text, reason);
}

static void put_code(struct json_text *text, const struct snapshot_library *library)
{
    if (!library->code_bytes)
        return;
    json_text_literal(text, ",\"code\":{\"offset\":");
    json_text_uint(text, library->code_offset);
    json_text_literal(text, ",\"size\":");
    json_text_uint(text, library->code_bytes);
    json_text_literal(text, ",\"fileOffset\":");
    json_text_uint(text, library->code_file_offset);
    json_text_literal(text, ",\"base\":");
    json_text_uint(text, library->base);
    json_text_literal(text, "}");
}

void describe_library_json(struct json_text *text, const struct snapshot_library *library)
{
    put_id(text, "{\"id\":", library->id);
    json_text_literal(text, ",\"uri\":\"");
    uri_library(text, library);
    json_text_literal(text, "\",\"name\":");
    json_text_string(text, library->name);
    json_text_literal(text, ",\"path\":");
    json_text_string(text, library->path);
    json_text_literal(text, ",\"buildId\":");
    json_text_string(text, library->build_id);
    json_text_literal(text, ",\"loadBias\":");
    json_text_uint(text, library->load_bias);
    put_code(text, library);
    if (library->runtime)
        put_id(text, ",\"runtime\":", library->runtime);
    if (library->runs)
        put_id(text, ",\"runs\":", library->runs);
    put_reason(text, ",\"reason\":", library->reason);
    put_reason(text, ",\"linesReason\":", library->lines_reason);
    if (library->system)
        json_text_literal(text, ",\"system\":true}");
    else
        json_text_literal(text, ",\"system\":false}");
}
