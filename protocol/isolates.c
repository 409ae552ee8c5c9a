#include "isolates.h"

#include "generated/words.h"
#include "json_writer.h"
#include "uris.h"
#include "../sampler/include/isoscope/isoscope.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPARE_PROCESSES = 8 };

static int fetch(struct process_list *list, struct profile *profile)
{
    size_t count = profile_processes(profile, list->items, list->capacity);

    /* Again, because more may have come between the two calls. */
    while (count > list->capacity) {
        size_t capacity = count + count / 2 + SPARE_PROCESSES;
        struct process_info *items = realloc(list->items, capacity * sizeof(*items));

        if (!items)
            return -ISOSCOPE_NO_MEMORY;
        list->items = items;
        list->capacity = capacity;
        count = profile_processes(profile, list->items, list->capacity);
    }
    list->count = count;
    return 0;
}

static void tell_of_start(const struct process_info *process, isolates_changed *changed,
                          void *context)
{
    changed(context, KIND_ISOLATE_START, process);
    changed(context, KIND_ISOLATE_RUNNABLE, process);
    if (!process->live)
        changed(context, KIND_ISOLATE_EXIT, process);
}

/* Both lists are in order of arrival, so one walk over them finds every difference. */
static void tell(const struct isolates *isolates, isolates_changed *changed, void *context)
{
    const struct process_list *before = &isolates->before, *now = &isolates->now;
    size_t at = 0;

    for (size_t i = 0; i < before->count; i++) {
        const struct process_info *old = &before->items[i];
        bool there = at < now->count && now->items[at].id == old->id;

        if (old->live && !(there && now->items[at].live))
            changed(context, KIND_ISOLATE_EXIT, there ? &now->items[at] : old);
        at += there;
    }
    for (; at < now->count; at++)
        tell_of_start(&now->items[at], changed, context);
}

int isolates_refresh(struct isolates *isolates, struct profile *profile, isolates_changed *changed,
                     void *context)
{
    struct process_list before = isolates->now;
    int rc;

    isolates->now = isolates->before;
    isolates->before = before;
    rc = fetch(&isolates->now, profile);
    if (rc < 0) {
        /* What was known stays; nothing is told twice. */
        isolates->before = isolates->now;
        isolates->now = before;
        return rc;
    }
    tell(isolates, changed, context);
    return 0;
}

void isolates_free(struct isolates *isolates)
{
    free(isolates->now.items);
    free(isolates->before.items);
}

static bool listed(const struct isolates *isolates, const struct process_info *process)
{
    return process->live || process->samples > 0 || process == isolates->now.items;
}

const struct process_info *isolates_first(const struct isolates *isolates)
{
    return isolates->now.count ? isolates->now.items : NULL;
}

const struct process_info *isolates_find(const struct isolates *isolates, int64_t number)
{
    for (size_t i = 0; i < isolates->now.count; i++) {
        const struct process_info *process = &isolates->now.items[i];

        if (number >= 0 && process->id == (uint64_t)number)
            return listed(isolates, process) ? process : NULL;
    }
    return NULL;
}

const struct process_info *isolates_next(const struct isolates *isolates,
                                         const struct process_info *process)
{
    const struct process_info *end = isolates->now.items + isolates->now.count;
    const struct process_info *next = process ? process + 1 : isolates->now.items;

    while (next < end && !listed(isolates, next))
        next++;
    return next < end ? next : NULL;
}

json_t *isolate_text(const char *bytes)
{
    struct json_text text = { 0 };
    json_t *string = NULL;

    json_text_string(&text, bytes);
    if (!text.failed)
        string = json_loadb(text.data, text.length, JSON_DECODE_ANY, NULL);
    json_text_free(&text);
    return string;
}

json_t *isolate_ref(const struct process_info *process)
{
    char id[40], group[40], name[sizeof(process->name) + 8];

    snprintf(id, sizeof(id), "isolates/%" PRIu64, process->id);
    snprintf(group, sizeof(group), "isolateGroups/%" PRIu64, process->id);
    snprintf(name, sizeof(name), "%s:main()", process->name);
    return json_pack("{s:s, s:s, s:o, s:s, s:b, s:s}", "type", TYPE_ISOLATE_REF, "id", id, "name",
                     isolate_text(name), "number", strchr(id, '/') + 1, "isSystemIsolate", 0,
                     "isolateGroupId", group);
}

json_t *isolate_group_ref(const struct process_info *process)
{
    char id[40];

    snprintf(id, sizeof(id), "isolateGroups/%" PRIu64, process->id);
    return json_pack("{s:s, s:s, s:o, s:s, s:b}", "type", TYPE_ISOLATE_GROUP_REF, "id", id, "name",
                     isolate_text(process->exe), "number", strchr(id, '/') + 1,
                     "isSystemIsolateGroup", 0);
}

json_t *isolate_root_library(const struct process_info *process)
{
    struct json_text uri = { 0 };
    json_t *library = NULL;
    char id[40];

    snprintf(id, sizeof(id), "libraries/@%" PRIu64, process->id);
    uri_package(&uri, process->name);
    if (!uri.failed)
        library =
            json_pack("{s:s, s:b, s:s, s:o, s:s%}", "type", TYPE_LIBRARY_REF, "fixedId", 1, "id",
                      id, "name", isolate_text(process->name), "uri", uri.data, uri.length);
    json_text_free(&uri);
    return library;
}
