/*
 * isolates_json.c - isolates and their groups as the wire refers to them.
 */
#include "isolates.h"
#include "../generated/words.h"
#include "../objects/uris.h"
#include "../text/any_text.h"
#include "../text/json_writer.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* process: of that one; NULL: of those that are shown, or are not. */
static json_t *refs(const struct isolates *isolates, const struct process_info *process, bool shown)
{
    json_t *list = json_array();

    for (size_t i = 0; i < isolates->count; i++) {
        const struct isolate *isolate = &isolates->items[i];

        if (process ? process != isolate->process : shown != isolate->shown)
            continue;
        if (json_array_append_new(list, isolate_ref(isolate)) < 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

json_t *isolate_refs(const struct isolates *isolates, const struct process_info *process)
{
    return refs(isolates, process, true);
}

json_t *isolate_refs_unshown(const struct isolates *isolates)
{
    return refs(isolates, NULL, false);
}

json_t *isolate_ref(const struct isolate *isolate)
{
    char id[40], group[40];

    snprintf(id, sizeof(id), "isolates/%" PRIu64, isolate->number);
    snprintf(group, sizeof(group), "isolateGroups/%" PRIu64, isolate->process->id);
    return json_pack("{s:s, s:s, s:o, s:s, s:b, s:s, s:i, s:o*}", "type", TYPE_ISOLATE_REF, "id",
                     id, "name", any_text(isolate->name), "number", strchr(id, '/') + 1,
                     "isSystemIsolate", 0, "isolateGroupId", group, "_pid", isolate->process->pid,
                     "_tid", isolate->tid ? json_integer(isolate->tid) : NULL);
}

static json_t *text_or_none(const char *text)
{
    return *text ? any_text(text) : NULL;
}

json_t *isolate_place_label(const struct process_info *process)
{
    return text_or_none(process->place_label);
}

json_t *isolate_place(const struct process_info *process)
{
    const struct process_place *place = &process->place;
    json_t *label = isolate_place_label(process);

    return label
               ? json_pack("{s:o, s:o*, s:o*, s:o*, s:o*}", "label", label, "engine",
                           text_or_none(place->engine), "container", text_or_none(place->container),
                           "pod", text_or_none(place->pod), "unit", text_or_none(place->unit))
               : NULL;
}

json_t *isolate_group_ref(const struct process_info *process)
{
    char id[40];

    snprintf(id, sizeof(id), "isolateGroups/%" PRIu64, process->id);
    return json_pack("{s:s, s:s, s:o, s:s, s:b, s:o*}", "type", TYPE_ISOLATE_GROUP_REF, "id", id,
                     "name", any_text(process->exe), "number", strchr(id, '/') + 1,
                     "isSystemIsolateGroup", 0, "_place", isolate_place_label(process));
}

static json_t *exit_json(int wait_status)
{
    int number = WTERMSIG(wait_status);
    const char *known = sigabbrev_np(number);
    char name[24];

    if (!WIFSIGNALED(wait_status))
        return json_pack("{s:i}", "status", WEXITSTATUS(wait_status));
    if (known)
        snprintf(name, sizeof(name), "SIG%s", known);
    else
        snprintf(name, sizeof(name), "SIGRTMIN%+d", number - SIGRTMIN);
    return json_pack("{s:s, s:b}", "signal", name, "core", WCOREDUMP(wait_status) != 0);
}

json_t *isolate_with_exit(json_t *object, const char *name, const struct process_info *process)
{
    if (!process->exit_known ||
        json_object_set_new(object, name, exit_json(process->wait_status)) == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *isolate_root_library(const struct process_info *process)
{
    struct json_text uri = { 0 };
    json_t *library = NULL;
    char id[40];

    snprintf(id, sizeof(id), "libraries/@%" PRIu64, process->id);
    uri_package(&uri, process->name);
    if (!uri.failed)
        library = json_pack("{s:s, s:b, s:s, s:o, s:s%}", "type", TYPE_LIBRARY_REF, "fixedId", 1,
                            "id", id, "name", any_text(process->name), "uri", uri.data, uri.length);
    json_text_free(&uri);
    return library;
}
