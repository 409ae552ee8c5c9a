#include "client.h"
#include "handlers.h"
#include "refs.h"
#include "scripts.h"
#include "source.h"
#include "../sampler/feed/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct profile *profile_of(const struct client *client)
{
    return client->service->options.profile;
}

/* A list of the scripts of one module; NULL: of all. */
static json_t *script_refs(const struct scripts *scripts, const char *path)
{
    json_t *list = json_array();

    for (size_t i = 0; i < scripts->count; i++)
        if (!path || !strcmp(scripts->list[i].library.path, path))
            json_array_append_new(list, script_ref(&scripts->list[i]));
    return list;
}

/* What is known by now: the files of the functions that somebody has looked at. */
int handle_get_scripts(struct client *client, const struct get_scripts_params *params,
                       struct reply *reply)
{
    CLEANUP(scripts_free) struct scripts scripts;

    (void)params;
    if (scripts_take(&scripts, profile_of(client)) < 0)
        return answer(client, reply, NULL);
    return answer(
        client, reply,
        json_pack("{s:s, s:o}", "type", TYPE_SCRIPT_LIST, "scripts", script_refs(&scripts, NULL)));
}

/* The members that only the full Library has. Takes over both. */
static json_t *full_library(json_t *library, json_t *scripts)
{
    json_auto_t *more =
        json_pack("{s:s, s:b, s:[], s:o, s:[], s:[], s:[]}", "type", TYPE_LIBRARY, "debuggable", 0,
                  "dependencies", "scripts", scripts, "variables", "functions", "classes");

    if (json_object_update(library, more) < 0) {
        json_decref(library);
        return NULL;
    }
    return library;
}

static json_t *library_object(struct client *client, const char *id)
{
    CLEANUP(scripts_free) struct scripts scripts = { 0 };
    struct snapshot_library library;
    struct json_text text = { 0 };

    if (!profile_library(profile_of(client), id, &library) ||
        scripts_take(&scripts, profile_of(client)) < 0)
        return NULL;
    ref_library(&text, "Library", &library);
    return full_library(ref_json(&text), script_refs(&scripts, library.path));
}

/* The one that getIsolate names as rootLib: the program itself. */
static json_t *root_library_object(struct client *client, const struct process_info *process,
                                   const char *id)
{
    CLEANUP(scripts_free) struct scripts scripts = { 0 };
    json_t *library = isolate_root_library(process);

    if (strcmp(json_string_value(json_object_get(library, "id")), id) ||
        scripts_take(&scripts, profile_of(client)) < 0) {
        json_decref(library);
        return NULL;
    }
    return full_library(library, script_refs(&scripts, process->exe));
}

static json_t *function_ref(const char *type, const struct profile_function *found)
{
    struct json_text text = { 0 };

    ref_function(&text, type, &found->function, &found->library);
    return ref_json(&text);
}

static json_t *function_object(struct client *client, const char *id)
{
    struct profile_function found;
    json_t *function;

    if (!profile_function(profile_of(client), id, &found))
        return NULL;
    function = function_ref("Function", &found);
    json_object_set_new(function, "code", ref_code("@Code", &found.function));
    json_object_set_new(function, "_rawName", isolate_text(found.function.raw_name));
    json_object_set_new(function, "_fullName", isolate_text(found.function.full_name));
    return function;
}

static json_t *code_object(struct client *client, const char *id)
{
    struct profile_function found;
    char function[sizeof(found.function.id)];
    json_t *code;

    snprintf(function, sizeof(function), "functions%s", strchr(id, '/'));
    if (!profile_function(profile_of(client), function, &found))
        return NULL;
    code = ref_code("Code", &found.function);
    json_object_set_new(code, "function", function_ref("@Function", &found));
    if (found.function.offset != SNAPSHOT_NO_OFFSET)
        json_object_set_new(code, "_offset", json_integer((json_int_t)found.function.offset));
    return code;
}

static uint32_t count_lines(const char *text, size_t length)
{
    uint32_t count = 1;

    for (size_t i = 0; i < length; i++)
        count += text[i] == '\n';
    return count;
}

/* A line's token position is its number: [[1, 1, 1], [2, 2, 1], ...]. */
static json_t *token_positions(uint32_t lines)
{
    json_t *table = json_array();

    for (uint32_t line = 1; line <= lines; line++)
        json_array_append_new(table, json_pack("[i, i, i]", (int)line, (int)line, 1));
    return table;
}

static void free_text(char **text)
{
    free(*text);
}

static void add_source(struct client *client, const char *file, json_t *script)
{
    const char *root = client->service->options.source_root;
    size_t length;
    CLEANUP(free_text) char *text = root ? source_read(root, file, &length) : NULL;

    if (!text)
        return;
    json_object_set_new(script, "source", isolate_text(text));
    json_object_set_new(script, "tokenPosTable", token_positions(count_lines(text, length)));
}

static json_t *script_object(struct client *client, const char *id)
{
    CLEANUP(scripts_free) struct scripts scripts = { 0 };
    const struct profile_script *found;
    struct json_text text = { 0 }, library = { 0 };
    json_t *script;

    if (scripts_take(&scripts, profile_of(client)) < 0 || !(found = scripts_find(&scripts, id)))
        return NULL;
    ref_script(&text, "Script", &found->library, found->file, found->file_number);
    ref_library(&library, "@Library", &found->library);
    script = ref_json(&text);
    json_object_set_new(script, "library", ref_json(&library));
    json_object_set_new(script, "lineOffset", json_integer(0));
    json_object_set_new(script, "columnOffset", json_integer(0));
    add_source(client, found->file, script);
    return script;
}

static bool begins_with(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

static json_t *object(struct client *client, const struct process_info *process, const char *id)
{
    if (begins_with(id, "functions/"))
        return function_object(client, id);
    if (begins_with(id, "code/"))
        return code_object(client, id);
    if (begins_with(id, "libraries/@"))
        return root_library_object(client, process, id);
    if (begins_with(id, "libraries/"))
        return strstr(id, "/scripts/") ? script_object(client, id) : library_object(client, id);
    return NULL;
}

/* Ids stay good as long as the service, so nothing expires: an id is known, or was never given. */
int handle_get_object(struct client *client, const struct get_object_params *params,
                      struct reply *reply)
{
    const char *id = params->object_id;
    json_t *found = object(client, params->isolate->process, id);

    if (!found)
        return fail(client, RPC_INVALID_PARAMS, "getObject: invalid 'objectId' parameter: %s", id);
    return answer(client, reply, found);
}

/* The answer's URI for one that was asked; what is none of ours is null. */
typedef json_t *look_up(const struct scripts *scripts, const char *uri);

static int look_up_all(struct client *client, const json_t *uris, struct reply *reply, look_up *one)
{
    CLEANUP(scripts_free) struct scripts scripts;
    json_t *found = json_array();
    size_t i;
    json_t *uri;

    if (scripts_take(&scripts, profile_of(client)) < 0) {
        json_decref(found);
        return answer(client, reply, NULL);
    }
    json_array_foreach(uris, i, uri)
    {
        const char *text = json_string_value(uri);

        json_array_append_new(found, text ? one(&scripts, text) : json_null());
    }
    return answer(client, reply, json_pack("{s:s, s:o}", "type", TYPE_URI_LIST, "uris", found));
}

/* DevTools asks with every resolvedUrl of a profile, which are package URIs already. */
static json_t *package_of(const struct scripts *scripts, const char *uri)
{
    const struct profile_script *script;

    if (begins_with(uri, "package:"))
        return json_string(uri);
    script = scripts_of_file(scripts, uri);
    return script ? script_package_uri(script) : json_null();
}

static json_t *file_of(const struct scripts *scripts, const char *uri)
{
    const struct profile_script *script = scripts_of_package(scripts, uri);

    return script ? script_file_uri(script) : json_null();
}

int handle_lookup_package_uris(struct client *client,
                               const struct lookup_package_uris_params *params, struct reply *reply)
{
    return look_up_all(client, params->uris, reply, package_of);
}

int handle_lookup_resolved_package_uris(struct client *client,
                                        const struct lookup_resolved_package_uris_params *params,
                                        struct reply *reply)
{
    return look_up_all(client, params->uris, reply, file_of);
}
