#include "scripts.h"

#include "refs.h"
#include "uris.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int scripts_take(struct scripts *scripts, struct profile *profile, uint64_t process_id)
{
    size_t capacity = 0;

    *scripts = (struct scripts){ 0 };
    /* Again, because more may become known between the two calls. */
    while ((scripts->count = profile_scripts(profile, process_id, scripts->list, capacity)) >
           capacity) {
        struct profile_script *list =
            reallocarray(scripts->list, scripts->count + 16, sizeof(*list));

        if (!list) {
            scripts_free(scripts);
            return -ISOSCOPE_NO_MEMORY;
        }
        scripts->list = list;
        capacity = scripts->count + 16;
    }
    return 0;
}

void scripts_free(struct scripts *scripts)
{
    free(scripts->list);
    *scripts = (struct scripts){ 0 };
}

const struct profile_script *scripts_find(const struct scripts *scripts, const char *id)
{
    char known[64];

    for (size_t i = 0; i < scripts->count; i++) {
        snprintf(known, sizeof(known), "%s/scripts/%" PRIu32, scripts->list[i].library.id,
                 scripts->list[i].file_number);
        if (!strcmp(known, id))
            return &scripts->list[i];
    }
    return NULL;
}

static void put_package_uri(struct json_text *text, const struct profile_script *script)
{
    uri_source(text, &script->library, script->file);
}

static void put_file_uri(struct json_text *text, const struct profile_script *script)
{
    const char *file = script->file ? script->file : script->library.path;

    if (*file == '/')
        uri_file(text, file);
}

typedef void put_uri(struct json_text *text, const struct profile_script *script);

static const struct profile_script *find_uri(const struct scripts *scripts, const char *uri,
                                             put_uri *put)
{
    const struct profile_script *found = NULL;
    size_t length = strlen(uri);

    for (size_t i = 0; i < scripts->count && !found; i++) {
        struct json_text text = { 0 };

        put(&text, &scripts->list[i]);
        if (length && text.length == length && !memcmp(text.data, uri, length))
            found = &scripts->list[i];
        json_text_free(&text);
    }
    return found;
}

const struct profile_script *scripts_of_package(const struct scripts *scripts, const char *uri)
{
    return find_uri(scripts, uri, put_package_uri);
}

const struct profile_script *scripts_of_file(const struct scripts *scripts, const char *uri)
{
    return find_uri(scripts, uri, put_file_uri);
}

static json_t *uri_json(const struct profile_script *script, put_uri *put)
{
    struct json_text text = { 0 };
    json_t *uri;

    put(&text, script);
    uri = text.length && !text.failed ? json_stringn(text.data, text.length) : json_null();
    json_text_free(&text);
    return uri;
}

json_t *script_package_uri(const struct profile_script *script)
{
    return uri_json(script, put_package_uri);
}

json_t *script_file_uri(const struct profile_script *script)
{
    return uri_json(script, put_file_uri);
}

json_t *script_ref(const struct profile_script *script)
{
    struct json_text text = { 0 };

    ref_script(&text, "@Script", &script->library, script->file, script->file_number);
    return ref_json(&text);
}

json_t *script_refs(const struct scripts *scripts, const char *path)
{
    json_auto_t *known = json_object();
    json_t *list = json_array();

    for (size_t i = 0; i < scripts->count; i++) {
        json_auto_t *script = NULL;
        const char *uri;

        if (strcmp(scripts->list[i].library.path, path) != 0)
            continue;
        script = script_ref(&scripts->list[i]);
        uri = json_string_value(json_object_get(script, "uri"));
        if (!uri || json_object_get(known, uri))
            continue;
        json_object_set_new(known, uri, json_true());
        json_array_append(list, script);
    }
    return list;
}
