#include "flags.h"

#include "client.h"
#include "counters.h"
#include "values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct flag {
    const char *name, *comment, *type, *initial;
    void (*get)(struct service *service, char out[FLAG_TEXT_MAX]);    /* NULL: always initial */
    enum flag_set (*set)(struct service *service, const char *value); /* NULL: fixed */
};

static void get_profiler(struct service *service, char out[FLAG_TEXT_MAX])
{
    snprintf(out, FLAG_TEXT_MAX, "%s",
             profile_enabled(service->options.profile) ? "true" : "false");
}

static enum flag_set set_profiler(struct service *service, const char *value)
{
    bool enabled = !strcmp(value, "true");

    if (!enabled && strcmp(value, "false"))
        return FLAG_INVALID;
    profile_set_enabled(service->options.profile, enabled);
    return FLAG_SET;
}

static void get_effective_period(struct service *service, char out[FLAG_TEXT_MAX])
{
    snprintf(out, FLAG_TEXT_MAX, "%" PRIu32, profile_period_us(service->options.profile));
}

/* Of the first process: what one was refused, all are. */
static void get_timer(struct service *service, char out[FLAG_TEXT_MAX])
{
    struct process_info process;
    size_t count = profile_processes(service->options.profile, &process, 1);

    snprintf(out, FLAG_TEXT_MAX, "%s", counters_timer(count ? &process : NULL));
}

static void get_period(struct service *service, char out[FLAG_TEXT_MAX])
{
    const struct flags *flags = &service->flags;

    if (flags->period_us && flags->period_us == profile_period_us(service->options.profile))
        snprintf(out, FLAG_TEXT_MAX, "%s", flags->period_text);
    else
        get_effective_period(service, out);
}

/* Out of range is no error: the VM clamps too. */
static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value < most ? value : most;
}

static enum flag_set set_period(struct service *service, const char *value)
{
    struct profile *profile = service->options.profile;
    int64_t period_us;

    if (!*value) /* the VM reads "" as not given */
        return FLAG_SET;
    if (!value_int64(value, &period_us) || strlen(value) >= FLAG_TEXT_MAX)
        return FLAG_INVALID;
    profile_set_period_us(profile,
                          (uint32_t)clamp(period_us, FEED_PERIOD_MIN_US, FEED_PERIOD_MAX_US));
    snprintf(service->flags.period_text, FLAG_TEXT_MAX, "%s", value);
    service->flags.period_us = profile_period_us(profile);
    return FLAG_SET;
}

static void get_depth(struct service *service, char out[FLAG_TEXT_MAX])
{
    snprintf(out, FLAG_TEXT_MAX, "%" PRIu32, profile_depth_max(service->options.profile));
}

static enum flag_set set_depth(struct service *service, const char *value)
{
    int64_t depth_max;

    if (!*value)
        return FLAG_SET;
    if (!value_int64(value, &depth_max))
        return FLAG_INVALID;
    profile_set_depth_max(service->options.profile,
                          (uint32_t)clamp(depth_max, FEED_DEPTH_MIN, FEED_DEPTH_MAX));
    return FLAG_SET;
}

static const char *const modes[] = {
#define MODE_TEXT(name, text) text,
    FEED_MODES(MODE_TEXT)
};

static void get_mode(struct service *service, char out[FLAG_TEXT_MAX])
{
    snprintf(out, FLAG_TEXT_MAX, "%s", modes[profile_mode(service->options.profile)]);
}

static enum flag_set set_mode(struct service *service, const char *value)
{
    for (int mode = 0; mode < FEED_MODE_COUNT; mode++) {
        if (strcmp(value, modes[mode]))
            continue;
        profile_set_mode(service->options.profile, (enum feed_mode)mode);
        return FLAG_SET;
    }
    return FLAG_INVALID;
}

_Static_assert((int)FLAG_TEXT_MAX >= (int)FEED_WALL_THREADS_BYTES, "it is a flag's text");

static void get_wall_threads(struct service *service, char out[FLAG_TEXT_MAX])
{
    profile_wall_threads(service->options.profile, out);
}

static enum flag_set set_wall_threads(struct service *service, const char *value)
{
    if (!*value)
        return FLAG_SET;
    return profile_set_wall_threads(service->options.profile, value) ? FLAG_SET : FLAG_INVALID;
}

/* isoscope never pauses a program. DevTools asks for it at each connect, and copes with a no. */
static enum flag_set set_never(struct service *service, const char *value)
{
    (void)service;
    if (!strcmp(value, "false"))
        return FLAG_SET;
    return strcmp(value, "true") ? FLAG_INVALID : FLAG_FIXED;
}

static const struct flag flags[] = {
    { "max_profile_depth",
      "Frames kept of a stack, 2 to 1024: the leaf side, and of a deeper one the root side too.",
      "Int", "128", get_depth, set_depth },
    { "pause_isolates_on_exit", "Not possible here.", "Bool", "false", NULL, set_never },
    { "pause_isolates_on_start", "Not possible here.", "Bool", "false", NULL, set_never },
    { "profile_microtasks", "Not possible here.", "Bool", "false", NULL, set_never },
    { "profile_mode", "cpu: threads that run are sampled; wall: sleeping ones too.", "String",
      "cpu", get_mode, set_mode },
    { "profile_period", "CPU time between two samples of a thread, in microseconds; at least 50.",
      "Int", "1000", get_period, set_period },
    { "profile_period_effective", "The period that the sampler was given for profile_period.",
      "Int", "1000", get_effective_period, NULL },
    { "profile_timer", "What makes the ticks: sigtrap or cpu-timer.", "String", "none", get_timer,
      NULL },
    { "profile_wall_threads",
      "The threads that wall mode samples: names ('*' for any characters) and tids, with commas.",
      "String", "*", get_wall_threads, set_wall_threads },
    { "profiler", "Sample all threads.", "Bool", "true", get_profiler, set_profiler },
    { "sample_buffer_duration", "0: samples are bounded by bytes, not time.", "Int", "0", NULL,
      NULL },
};
enum { FLAG_COUNT = sizeof(flags) / sizeof(*flags) };
_Static_assert(FEED_DEPTH_DEFAULT == 128, "max_profile_depth says so");

static void get(struct service *service, const struct flag *flag, char out[FLAG_TEXT_MAX])
{
    if (flag->get)
        flag->get(service, out);
    else
        snprintf(out, FLAG_TEXT_MAX, "%s", flag->initial);
}

json_t *flags_list(struct service *service)
{
    json_t *list = json_array();

    for (size_t i = 0; i < FLAG_COUNT; i++) {
        const struct flag *flag = &flags[i];
        char value[FLAG_TEXT_MAX];
        json_t *item;

        get(service, flag, value);
        item = json_pack("{s:s, s:s, s:b, s:s, s:s}", "name", flag->name, "comment", flag->comment,
                         "modified", strcmp(value, flag->initial) != 0, "_flagType", flag->type,
                         "valueAsString", value);
        if (json_array_append_new(list, item) < 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static const struct flag *find(const char *name)
{
    for (size_t i = 0; i < FLAG_COUNT; i++)
        if (!strcmp(flags[i].name, name))
            return &flags[i];
    return NULL;
}

/* The event goes out even when nothing changed, as the VM's does: a client may wait for it. */
enum flag_set flag_set(struct service *service, const char *name, const char *value)
{
    const struct flag *flag = find(name);
    char now[FLAG_TEXT_MAX];
    enum flag_set set;

    if (!flag)
        return FLAG_UNKNOWN;
    set = flag->set ? flag->set(service, value) : FLAG_FIXED;
    if (set == FLAG_SET) {
        get(service, flag, now);
        streams_flag_changed(service, name, now);
    }
    return set;
}
