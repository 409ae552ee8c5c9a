#include "refs.h"

#include "codes.h"
#include "uris.h"
#include "../text/any_text.h"

#include <stdio.h>
#include <string.h>

static void put_string(struct json_text *text, const char *member, const char *value)
{
    json_text_raw(text, member, strlen(member));
    json_text_string(text, value);
}

void ref_name(struct json_text *text, const char *name)
{
    const char *ampersand = strchr(name, ' ') ? NULL : strchr(name, '&');

    if (!ampersand)
        return json_text_string(text, name);
    json_text_literal(text, "\"");
    json_text_escaped(text, name, (size_t)(ampersand - name));
    json_text_literal(text, " ");
    json_text_escaped(text, ampersand, strlen(ampersand));
    json_text_literal(text, "\"");
}

void ref_library(struct json_text *text, const char *type, const struct snapshot_library *library)
{
    put_string(text, "\"type\":", type);
    put_string(text, ",\"fixedId\":true,\"id\":", library->id);
    put_string(text, ",\"name\":", library->name);
    json_text_literal(text, ",\"uri\":\"");
    uri_library(text, library);
    json_text_literal(text, "\"");
}

void ref_script(struct json_text *text, const char *type, const struct snapshot_library *library,
                const char *file, uint32_t file_number)
{
    put_string(text, "\"type\":", type);
    json_text_literal(text, ",\"fixedId\":true,\"id\":\"");
    json_text_raw(text, library->id, strlen(library->id));
    json_text_literal(text, "/scripts/");
    json_text_uint(text, file_number);
    json_text_literal(text, "\",\"uri\":\"");
    uri_source(text, library, file);
    json_text_literal(text, "\"");
}

bool ref_has_location(const struct snapshot_function *function,
                      const struct snapshot_library *library)
{
    return function->file && function->line && uri_has_scripts(library);
}

/* A line is its own token position: Script.tokenPosTable says so too. */
static void put_location(struct json_text *text, const struct snapshot_function *function,
                         const struct snapshot_library *library)
{
    json_text_literal(text, ",\"location\":{\"type\":\"SourceLocation\",\"script\":{");
    ref_script(text, "@Script", library, function->file, function->file_number);
    json_text_literal(text, "},\"tokenPos\":");
    json_text_uint(text, function->line);
    json_text_literal(text, ",\"line\":");
    json_text_uint(text, function->line);
    json_text_literal(text, ",\"column\":1}");
}

/* Observatory wants all eight booleans, and a kind that it knows. */
void ref_function(struct json_text *text, const char *type,
                  const struct snapshot_function *function, const struct snapshot_library *library)
{
    put_string(text, "\"type\":", type);
    put_string(text, ",\"fixedId\":true,\"id\":", function->id);
    json_text_literal(text, ",\"name\":");
    ref_name(text, function->name);
    json_text_literal(text, ",\"owner\":{");
    ref_library(text, "@Library", library);
    json_text_literal(text, "},\"_kind\":\"RegularFunction\",\"static\":true,\"const\":false,"
                            "\"implicit\":false,\"abstract\":false,\"isGetter\":false,"
                            "\"isSetter\":false,\"_intrinsic\":false,\"_native\":false");
    if (ref_has_location(function, library))
        put_location(text, function, library);
}

json_t *ref_code(const char *type, const struct snapshot_function *function)
{
    const char *rest = strchr(function->id, '/');
    char id[sizeof(function->id)];

    snprintf(id, sizeof(id), "code%s", rest ? rest : "");
    return json_pack("{s:s, s:b, s:s, s:o, s:s}", "type", type, "fixedId", 1, "id", id, "name",
                     any_text(function->full_name), "kind", code_kind(function));
}

json_t *ref_json(struct json_text *text)
{
    struct json_text whole = { 0 };
    json_t *json = NULL;

    json_text_literal(&whole, "{");
    json_text_raw(&whole, text->data, text->length);
    json_text_literal(&whole, "}");
    if (!text->failed && !whole.failed)
        json = json_loadb(whole.data, whole.length, 0, NULL);
    json_text_free(text);
    json_text_free(&whole);
    return json;
}
