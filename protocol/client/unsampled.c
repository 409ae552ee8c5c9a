#include "unsampled.h"

#include "../text/any_text.h"

#include <string.h>

enum { PROGRAMS_MAX = 64 };

static bool is_member(const json_t *one, const char *name, const char *text)
{
    return !strcmp(json_string_value(json_object_get(one, name)), text);
}

/* exe: as clients see it. The list's size: it is not there. */
static size_t place_of(const json_t *list, const char *exe, const char *reason)
{
    const json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        if (is_member(one, "exe", exe) && is_member(one, "reason", reason))
            break;
    }
    return i;
}

/* Returns the new count. */
static json_int_t count(json_t *one, int32_t pid, int more)
{
    json_int_t now = json_integer_value(json_object_get(one, "count")) + more;

    json_object_set_new(one, "count", json_integer(now));
    json_object_set_new(one, "pid", json_integer(pid));
    return now;
}

static void add(struct service *service, int32_t pid, const char *exe, const char *reason,
                int times)
{
    json_auto_t *shown = any_text(exe);
    size_t place;

    if (!shown || (!service->unsampled && !(service->unsampled = json_array())))
        return;
    place = place_of(service->unsampled, json_string_value(shown), reason);
    if (place < json_array_size(service->unsampled))
        count(json_array_get(service->unsampled, place), pid, times);
    else if (place < PROGRAMS_MAX)
        json_array_append_new(service->unsampled,
                              json_pack("{s:i, s:O, s:s, s:i}", "pid", (int)pid, "exe", shown,
                                        "reason", reason, "count", times));
}

void service_unsampled(struct service *service, int32_t pid, const char *exe, const char *reason)
{
    add(service, pid, exe, reason, 1);
}

void service_sampled_after_all(struct service *service, int32_t pid, const char *exe,
                               const char *reason)
{
    json_auto_t *shown = any_text(exe);
    size_t place = shown ? place_of(service->unsampled, json_string_value(shown), reason) : 0;
    json_t *one = shown ? json_array_get(service->unsampled, place) : NULL;

    if (one && !count(one, pid, -1))
        json_array_remove(service->unsampled, place);
}

void unsampled_take(struct service *service, const json_t *list)
{
    const json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        const char *exe = json_string_value(json_object_get(one, "exe"));
        const char *reason = json_string_value(json_object_get(one, "reason"));
        json_int_t times = json_integer_value(json_object_get(one, "count"));
        int32_t pid = (int32_t)json_integer_value(json_object_get(one, "pid"));

        if (exe && reason && times > 0 && times <= INT32_MAX && pid > 0)
            add(service, pid, exe, reason, (int)times);
    }
}

json_t *with_unsampled(json_t *vm, const struct service *service)
{
    if (vm && json_array_size(service->unsampled))
        json_object_set(vm, "_unsampled", service->unsampled);
    return vm;
}
