#include "handlers.h"
#include "../client/client.h"
#include "../client/samples_reply.h"
#include "../events/history.h"
#include "../objects/core_library.h"
#include "../objects/refs.h"
#include "../objects/scripts.h"
#include "../objects/scripts_writer.h"
#include "../rpc/values.h"
#include "../samples/allocation_sites.h"
#include "../text/any_text.h"
#include "../../sampler/feed/cleanup.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct profile *profile_of(const struct client *client)
{
    return client->service->options.profile;
}

/* What is known by now: the files of the functions that somebody has looked at. */
int handle_get_scripts(struct client *client, const struct get_scripts_params *params,
                       struct reply *reply)
{
    CLEANUP(samples_reply_end) struct samples_reply begun = { 0 };
    struct scripts scripts;
    int rc = samples_reply_begin_empty(client, reply, &begun);

    if (rc)
        return rc;
    rc = scripts_take(&scripts, profile_of(client), params->isolate->process->id);
    if (!rc)
        rc = scripts_writer_new(&reply->samples, &scripts, begun.envelope);
    return samples_reply_result(client, rc);
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
        scripts_take(&scripts, profile_of(client), 0) < 0)
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
        scripts_take(&scripts, profile_of(client), 0) < 0) {
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
    json_object_set_new(function, "signature",
                        core_signature(found.function.id, found.function.full_name));
    if (found.library.runtime)
        json_object_set_new(function, "_runtime", json_string(found.library.runtime));
    json_object_set_new(function, "_rawName", any_text(found.function.raw_name));
    json_object_set_new(function, "_fullName", any_text(found.function.full_name));
    return function;
}

/* Of a function that allocates. */
static json_t *site_object(struct client *client, const char *function_id)
{
    struct profile_function found;

    if (!profile_function(profile_of(client), function_id, &found))
        return NULL;
    return core_full_class(allocation_site_class(&found.function, &found.library));
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
    size_t length;
    CLEANUP(free_text)
    char *text = file ? profile_source_text(profile_of(client), file, &length) : NULL;

    if (!text)
        return;
    json_object_set_new(script, "source", any_text(text));
    json_object_set_new(script, "tokenPosTable", token_positions(count_lines(text, length)));
}

static json_t *script_object(struct client *client, const struct process_info *process,
                             const char *id)
{
    CLEANUP(scripts_free) struct scripts scripts = { 0 };
    const struct profile_script *found;
    struct json_text text = { 0 }, library = { 0 };
    json_t *script;

    if (scripts_take(&scripts, profile_of(client), 0) < 0 || !(found = scripts_find(&scripts, id)))
        return NULL;
    ref_script(&text, "Script", &found->library, found->file, found->file_number);
    ref_library(&library, "@Library", &found->library);
    script = ref_json(&text);
    json_object_set_new(script, "library", ref_json(&library));
    json_object_set_new(script, "lineOffset", json_integer(0));
    json_object_set_new(script, "columnOffset", json_integer(0));
    json_object_set_new(script, "_loadTime",
                        json_integer(service_epoch_ms(client->service, process->start_us)));
    add_source(client, found->file, script);
    return script;
}

static bool begins_with(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

/* The id behind an earlier part; NULL: it does not begin so. */
static const char *behind(const char *id, const char *part)
{
    return begins_with(id, part) ? id + strlen(part) : NULL;
}

static json_t *signature_object(struct client *client, const char *function_id)
{
    struct profile_function found;

    if (!profile_function(profile_of(client), function_id, &found))
        return NULL;
    return core_full_value(core_signature(function_id, found.function.full_name));
}

/* What the log told, while its history has it. A record's texts are as old as the record. */
static json_t *told_object(struct client *client, const char *id, const char *member)
{
    const struct history *history = histories_find(client->service->histories, STREAM_ID_LOGGING);
    const struct past_event *past = NULL;

    while ((past = history_next(history, past))) {
        json_t *record = json_object_get(past_event_json(past), "logRecord");
        json_t *text = json_object_get(record, member);
        const char *told = json_string_value(json_object_get(text, "id"));

        if (told && !strcmp(told, id))
            return core_full_value(json_incref(text));
    }
    return NULL;
}

static json_t *value_object(struct client *client, const char *id)
{
    const char *function = behind(id, CORE_SIGNATURES);

    if (function)
        return signature_object(client, function);
    if (begins_with(id, CORE_MESSAGES))
        return told_object(client, id, "message");
    return begins_with(id, CORE_ERRORS) ? told_object(client, id, "error") : core_constant(id);
}

static json_t *object(struct client *client, const struct process_info *process, const char *id)
{
    if (begins_with(id, "objects/"))
        return value_object(client, id);
    if (begins_with(id, ALLOCATION_SITE_CLASSES "functions/"))
        return site_object(client, id + strlen(ALLOCATION_SITE_CLASSES));
    if (begins_with(id, "classes/"))
        return core_class_object(id);
    if (!strcmp(id, CORE_LIBRARY_ID))
        return core_library_object();
    if (begins_with(id, "functions/"))
        return function_object(client, id);
    if (begins_with(id, "code/"))
        return code_object(client, id);
    if (begins_with(id, "libraries/@"))
        return root_library_object(client, process, id);
    if (begins_with(id, "libraries/"))
        return strstr(id, "/scripts/") ? script_object(client, process, id)
                                       : library_object(client, id);
    return NULL;
}

/* A text that was told, and that the history let go since. */
static bool has_expired(const struct client *client, const char *id)
{
    const char *number = behind(id, begins_with(id, CORE_ERRORS) ? CORE_ERRORS : CORE_MESSAGES);
    int64_t sequence;

    return number && value_int64(number, &sequence) && sequence >= 0 &&
           (uint64_t)sequence < client->service->log_records;
}

/* Ids stay good as long as the service, but for the log's messages: an id is known, or was never
 * given. */
int handle_get_object(struct client *client, const struct get_object_params *params,
                      struct reply *reply)
{
    const char *id = params->object_id;
    json_t *found = object(client, params->isolate->process, id);

    if (!found && has_expired(client, id))
        return answer(client, reply,
                      json_pack("{s:s, s:s, s:s}", "type", TYPE_SENTINEL, "kind", "Expired",
                                "valueAsString", "<expired>"));
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

    if (scripts_take(&scripts, profile_of(client), 0) < 0) {
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

/* DevTools asks with every resolvedUrl of a profile. What is no file: URI is as it wants it. */
static json_t *package_of(const struct scripts *scripts, const char *uri)
{
    const struct profile_script *script;

    if (begins_with(uri, "package:") || begins_with(uri, "script:"))
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
