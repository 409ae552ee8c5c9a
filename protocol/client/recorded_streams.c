#include "recorded_streams.h"

#include "../text/any_text.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/control.h"
#include "../../sampler/profile/timeline.h"

#include <stdlib.h>
#include <string.h>

/* The Dart VM's: clients choose among them, whether a program has them or not. */
static const char *const vm_streams[] = { "API",  "Compiler", "CompilerVerbose",
                                          "Dart", "Debugger", "Embedder",
                                          "GC",   "Isolate",  "VM" };
enum { VM_STREAMS = sizeof(vm_streams) / sizeof(*vm_streams) };

struct stream_names {
    const char **items;
    size_t count;
};

static bool is_vms(const char *name)
{
    for (size_t i = 0; i < VM_STREAMS; i++)
        if (!strcmp(vm_streams[i], name))
            return true;
    return false;
}

/* The VM's, as it sorts them, then the programs'. New ones may come meanwhile: those are seen the
 * next time. NULL items: out of memory. */
static struct stream_names names_of(const struct service *service)
{
    struct profile *profile = service->options.profile;
    size_t capacity = profile_timeline_streams(profile, NULL, 0);
    struct stream_names names = { calloc(capacity + VM_STREAMS, sizeof(*names.items)), 0 };
    size_t count;

    if (!names.items)
        return names;
    count = profile_timeline_streams(profile, names.items + VM_STREAMS, capacity);
    for (size_t i = 0; i < VM_STREAMS; i++)
        names.items[names.count++] = vm_streams[i];
    for (size_t i = VM_STREAMS; i < VM_STREAMS + count && i < VM_STREAMS + capacity; i++)
        if (!is_vms(names.items[i]))
            names.items[names.count++] = names.items[i];
    return names;
}

static bool list_has(const json_t *list, const char *name)
{
    size_t i;
    json_t *entry;

    json_array_foreach(list, i, entry)
    {
        if (!strcmp(json_string_value(entry), name))
            return true;
    }
    return false;
}

/* A client that knows the VM's streams alone, as DevTools does, means those. */
static bool is_of_vms_alone(const json_t *chosen)
{
    size_t i;
    json_t *entry;

    json_array_foreach(chosen, i, entry)
    {
        if (!is_vms(json_string_value(entry)))
            return false;
    }
    return i > 0;
}

static bool is_recorded(const struct service *service, const char *name)
{
    const json_t *chosen = service->chosen_streams;

    if (chosen && (is_vms(name) || !is_of_vms_alone(chosen)))
        return list_has(chosen, name) || list_has(chosen, "all");
    return profile_timeline_records(service->options.profile, name);
}

static json_t *names_json(const struct service *service, bool recorded)
{
    struct stream_names names = names_of(service);
    json_t *list = names.items ? json_array() : NULL;

    for (size_t i = 0; i < names.count; i++)
        if (!recorded || is_recorded(service, names.items[i]))
            json_array_append_new(list, any_text(names.items[i]));
    free(names.items);
    return list;
}

json_t *recorded_streams_available(const struct service *service)
{
    return names_json(service, false);
}

json_t *recorded_streams_now(const struct service *service)
{
    return names_json(service, true);
}

bool recorded_streams_has(const struct service *service, const char *name)
{
    struct stream_names names = names_of(service);
    bool has = name && !strcmp(name, "all");

    for (size_t i = 0; name && i < names.count; i++)
        has |= !strcmp(names.items[i], name);
    free(names.items);
    return has;
}

static int apply(struct service *service, json_t *chosen)
{
    struct profile *profile = service->options.profile;
    struct stream_names names = names_of(service);
    bool all = list_has(chosen, "all"), of_vms = is_of_vms_alone(chosen);
    bool others = all || (of_vms && profile_timeline_records(profile, ""));
    size_t count = 0;
    int rc = -ISOSCOPE_NO_MEMORY;

    for (size_t i = 0; i < names.count; i++)
        if (all || list_has(chosen, names.items[i]) ||
            (of_vms && !is_vms(names.items[i]) && is_recorded(service, names.items[i])))
            names.items[count++] = names.items[i];
    if (names.items)
        rc = profile_timeline_record(profile, names.items, count, others);
    free(names.items);
    return rc;
}

int recorded_streams_choose(struct service *service, json_t *names)
{
    if (!service->saved)
        return apply(service, names);
    json_decref(service->chosen_streams);
    service->chosen_streams = json_incref(names);
    return 0;
}
