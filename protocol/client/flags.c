#include "flags.h"

#include "client.h"
#include "../isolates/isolates.h"
#include "../rpc/values.h"
#include "../samples/counters.h"
#include "../stalls/stall_words.h"

#include "../../sampler/profile/control.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The usual limit of the level below stalls is the second. */
enum { STALL_LIMIT_MAX_MS = 3600 * 1000, JANK_LIMIT_MS = 50 };

struct flag {
    const char *name, *comment, *type, *initial;
    void (*get)(struct service *service, char out[FLAG_TEXT_MAX]);    /* NULL: always initial */
    enum flag_set (*set)(struct service *service, const char *value); /* NULL: fixed */
};

/* A saved session's are there to be read, however its sampling ended. */
static bool samples_can_be_read(const struct service *service)
{
    return service->saved || profile_settings(service->options.profile).enabled;
}

static void get_profiler(struct service *service, char out[FLAG_TEXT_MAX])
{
    snprintf(out, FLAG_TEXT_MAX, "%s", samples_can_be_read(service) ? "true" : "false");
}

static enum flag_set set_profiler(struct service *service, const char *value)
{
    struct feed_settings settings = profile_settings(service->options.profile);
    bool enabled = !strcmp(value, "true");

    if (!enabled && strcmp(value, "false"))
        return FLAG_INVALID;
    settings.enabled = enabled;
    profile_apply_settings(service->options.profile, &settings);
    return FLAG_SET;
}

static void get_effective_period(struct service *service, char out[FLAG_TEXT_MAX])
{
    snprintf(out, FLAG_TEXT_MAX, "%" PRIu32, profile_settings(service->options.profile).period_us);
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

    if (flags->period_us &&
        flags->period_us == profile_settings(service->options.profile).period_us)
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
    struct feed_settings settings = profile_settings(profile);
    int64_t period_us;

    if (!*value) /* the VM reads "" as not given */
        return FLAG_SET;
    if (!value_int64(value, &period_us) || strlen(value) >= FLAG_TEXT_MAX)
        return FLAG_INVALID;
    settings.period_us = (uint32_t)clamp(period_us, FEED_PERIOD_MIN_US, FEED_PERIOD_MAX_US);
    if (!service->saved)
        profile_apply_settings(profile, &settings);
    snprintf(service->flags.period_text, FLAG_TEXT_MAX, "%s", value);
    service->flags.period_us = profile_settings(profile).period_us;
    return FLAG_SET;
}

static void get_depth(struct service *service, char out[FLAG_TEXT_MAX])
{
    snprintf(out, FLAG_TEXT_MAX, "%" PRIu32, profile_settings(service->options.profile).depth_max);
}

static enum flag_set set_depth(struct service *service, const char *value)
{
    struct feed_settings settings = profile_settings(service->options.profile);
    int64_t depth_max;

    if (!*value)
        return FLAG_SET;
    if (!value_int64(value, &depth_max))
        return FLAG_INVALID;
    settings.depth_max = (uint32_t)clamp(depth_max, FEED_DEPTH_MIN, FEED_DEPTH_MAX);
    profile_apply_settings(service->options.profile, &settings);
    return FLAG_SET;
}

static const char *const modes[] = {
#define MODE_TEXT(name, text) text,
    FEED_MODES(MODE_TEXT)
};

static void get_mode(struct service *service, char out[FLAG_TEXT_MAX])
{
    snprintf(out, FLAG_TEXT_MAX, "%s", modes[profile_settings(service->options.profile).mode]);
}

static enum flag_set set_mode(struct service *service, const char *value)
{
    struct feed_settings settings = profile_settings(service->options.profile);

    for (int mode = 0; mode < FEED_MODE_COUNT; mode++) {
        if (strcmp(value, modes[mode]))
            continue;
        settings.mode = (enum feed_mode)mode;
        profile_apply_settings(service->options.profile, &settings);
        return FLAG_SET;
    }
    return FLAG_INVALID;
}

_Static_assert((int)FLAG_TEXT_MAX >= (int)FEED_WALL_THREADS_BYTES, "it is a flag's text");

static void get_want(struct service *service, uint32_t want, char out[FLAG_TEXT_MAX])
{
    snprintf(out, FLAG_TEXT_MAX, "%s",
             profile_settings(service->options.profile).wants & want ? "true" : "false");
}

static enum flag_set set_want(struct service *service, uint32_t want, const char *value)
{
    struct feed_settings settings = profile_settings(service->options.profile);
    bool wanted = !strcmp(value, "true");

    if (!wanted && strcmp(value, "false"))
        return FLAG_INVALID;
    settings.wants = (settings.wants & ~want) | (wanted ? want : 0);
    profile_apply_settings(service->options.profile, &settings);
    return FLAG_SET;
}

#define WANT_FLAG(name, want)                                                                      \
    static void get_##name(struct service *service, char out[FLAG_TEXT_MAX])                       \
    {                                                                                              \
        get_want(service, want, out);                                                              \
    }                                                                                              \
    static enum flag_set set_##name(struct service *service, const char *value)                    \
    {                                                                                              \
        return set_want(service, want, value);                                                     \
    }
WANT_FLAG(runtimes, FEED_WANT_RUNTIMES)
WANT_FLAG(gil, FEED_WANT_GIL)
WANT_FLAG(tasks, FEED_WANT_TASKS)
#undef WANT_FLAG

static void get_wall_threads(struct service *service, char out[FLAG_TEXT_MAX])
{
    snprintf(out, FLAG_TEXT_MAX, "%s", profile_settings(service->options.profile).wall_threads);
}

static enum flag_set set_wall_threads(struct service *service, const char *value)
{
    struct feed_settings settings = profile_settings(service->options.profile);
    size_t length = strlen(value);

    if (!length)
        return FLAG_SET;
    if (length >= FEED_WALL_THREADS_BYTES)
        return FLAG_INVALID;
    memset(settings.wall_threads, 0, sizeof(settings.wall_threads));
    memcpy(settings.wall_threads, value, length);
    profile_apply_settings(service->options.profile, &settings);
    return FLAG_SET;
}

static bool sees_allocations(const struct feed_status_view *status)
{
    return status->allocations_seen == FEED_ALLOCATIONS_SEEN ||
           status->allocations_seen == FEED_ALLOCATIONS_OWN;
}

static bool sees_locks(const struct feed_status_view *status)
{
    return status->locks_seen;
}

static bool any_process(struct service *service, bool (*sees)(const struct feed_status_view *))
{
    const struct process_info *process = NULL;

    while ((process = isolates_next(&service->isolates, process)))
        if (process->live && sees(&process->status))
            return true;
    return false;
}

/* How much goes by for one that is sampled; 0: none is. */
struct mean {
    uint32_t least, most, usual;
    bool (*sees)(const struct feed_status_view *status);
    enum flag_set otherwise; /* no program can */
};

/* FLAG_SET: *out is what is to be; an empty value leaves it. */
static enum flag_set read_mean(struct service *service, const char *value, const struct mean *mean,
                               uint32_t *out)
{
    int64_t number;

    if (!*value)
        return FLAG_SET;
    if (!strcmp(value, "true"))
        number = mean->usual;
    else if (!strcmp(value, "false"))
        number = 0;
    else if (!value_int64(value, &number))
        return FLAG_INVALID;
    if (number)
        number = clamp(number, mean->least, mean->most);
    if (number && !any_process(service, mean->sees))
        return mean->otherwise;
    *out = (uint32_t)number;
    return FLAG_SET;
}

static void get_alloc(struct service *service, char out[FLAG_TEXT_MAX])
{
    snprintf(out, FLAG_TEXT_MAX, "%" PRIu32,
             profile_settings(service->options.profile).allocation_bytes);
}

static enum flag_set set_alloc(struct service *service, const char *value)
{
    static const struct mean mean = { FEED_ALLOCATION_BYTES_MIN, FEED_ALLOCATION_BYTES_MAX,
                                      FEED_ALLOCATION_BYTES_DEFAULT, sees_allocations,
                                      FLAG_NO_ALLOC };
    struct feed_settings settings = profile_settings(service->options.profile);
    enum flag_set set = read_mean(service, value, &mean, &settings.allocation_bytes);

    if (set == FLAG_SET && *value)
        profile_apply_settings(service->options.profile, &settings);
    return set;
}

static void get_lock(struct service *service, char out[FLAG_TEXT_MAX])
{
    snprintf(out, FLAG_TEXT_MAX, "%" PRIu32, profile_settings(service->options.profile).lock_us);
}

static enum flag_set set_lock(struct service *service, const char *value)
{
    static const struct mean mean = { FEED_LOCK_US_MIN, FEED_LOCK_US_MAX, FEED_LOCK_US_DEFAULT,
                                      sees_locks, FLAG_NO_LOCK };
    struct feed_settings settings = profile_settings(service->options.profile);
    enum flag_set set = read_mean(service, value, &mean, &settings.lock_us);

    if (set == FLAG_SET && *value)
        profile_apply_settings(service->options.profile, &settings);
    return set;
}

static void get_faults(struct service *service, char out[FLAG_TEXT_MAX])
{
    snprintf(out, FLAG_TEXT_MAX, "%" PRIu32, profile_settings(service->options.profile).faults);
}

/* Of which one traps in programs that run; 0: in none of them. */
static uint32_t faults_possible(struct service *service)
{
    const struct process_info *process = NULL;

    while ((process = isolates_next(&service->isolates, process)))
        if (process->live && process->status.faults_seen == FEED_FAULTS_SEEN)
            return process->status.faults_period;
    return 0;
}

/* On and off: how many there are for one that traps is settled when a program starts. */
static enum flag_set set_faults(struct service *service, const char *value)
{
    struct feed_settings settings = profile_settings(service->options.profile);
    uint32_t possible = faults_possible(service);
    int64_t number = possible;

    if (!*value)
        return FLAG_SET;
    if (!strcmp(value, "false"))
        number = 0;
    else if (strcmp(value, "true") != 0 && !value_int64(value, &number))
        return FLAG_INVALID;
    if (number && number != possible)
        return possible ? FLAG_FIXED : FLAG_NO_FAULTS;
    if (!strcmp(value, "true") && !possible)
        return FLAG_NO_FAULTS;
    settings.faults = (uint32_t)number;
    profile_apply_settings(service->options.profile, &settings);
    return FLAG_SET;
}

static void get_stall_limit(struct service *service, char out[FLAG_TEXT_MAX])
{
    struct stall_settings settings = profile_stall_settings(service->options.profile);

    snprintf(out, FLAG_TEXT_MAX, "%" PRIu32, settings.limits_ms[STALL_LEVEL_STALL]);
}

/* The others are the usual ones (0) again: the longer ones are made to grow, the shorter one has to go below it. */
static enum flag_set set_stall_limit(struct service *service, const char *value)
{
    struct stall_settings settings = profile_stall_settings(service->options.profile);
    int64_t limit_ms;

    if (!*value)
        return FLAG_SET;
    if (!value_int64(value, &limit_ms))
        return FLAG_INVALID;
    limit_ms = clamp(limit_ms, 1, STALL_LIMIT_MAX_MS);
    memset(settings.limits_ms, 0, sizeof(settings.limits_ms));
    settings.limits_ms[STALL_LEVEL_JANK] = limit_ms < JANK_LIMIT_MS ? (uint32_t)limit_ms : 0;
    settings.limits_ms[STALL_LEVEL_STALL] = (uint32_t)limit_ms;
    profile_apply_stall_settings(service->options.profile, &settings);
    return FLAG_SET;
}

_Static_assert((int)FLAG_TEXT_MAX >= (int)sizeof(((struct stall_settings *)0)->names),
               "it is a flag's text");

static void get_stall_watch(struct service *service, char out[FLAG_TEXT_MAX])
{
    struct stall_settings settings = profile_stall_settings(service->options.profile);

    snprintf(out, FLAG_TEXT_MAX, "%s", stall_watch_text(&settings));
}

static enum flag_set set_stall_watch(struct service *service, const char *value)
{
    struct stall_settings settings = profile_stall_settings(service->options.profile);
    size_t length = strlen(value);
    int watch = 0;

    if (!length)
        return FLAG_SET;
    while (watch < FEED_WATCH_COUNT && strcmp(value, watch_words[watch]) != 0)
        watch++;
    if (watch == FEED_WATCH_COUNT && length >= sizeof(settings.names))
        return FLAG_INVALID;
    memset(settings.names, 0, sizeof(settings.names));
    if (watch == FEED_WATCH_COUNT)
        memcpy(settings.names, value, length);
    settings.watch = watch == FEED_WATCH_COUNT ? FEED_WATCH_AUTO : (enum feed_watch)watch;
    profile_apply_stall_settings(service->options.profile, &settings);
    return FLAG_SET;
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
      "Int", "512", get_depth, set_depth },
    { "pause_isolates_on_exit", "Not possible here.", "Bool", "false", NULL, set_never },
    { "pause_isolates_on_start", "Not possible here.", "Bool", "false", NULL, set_never },
    { "profile_alloc",
      "Bytes of which one allocation is sampled, on average; 0: none. Of programs started with "
      "--alloc.",
      "Int", "0", get_alloc, set_alloc },
    { "profile_faults",
      "Page faults of which one is sampled; 0: none. Of programs started with --faults, on and "
      "off.",
      "Int", "0", get_faults, set_faults },
    { "profile_gil",
      "Tell who has Python's interpreter lock, and who waits for it: GilHeld and GilWait.", "Bool",
      "false", get_gil, set_gil },
    { "profile_lock",
      "Microseconds waited of which one wait is sampled, on average; 0: none. Of programs started "
      "with --lock.",
      "Int", "0", get_lock, set_lock },
    { "profile_microtasks", "Not possible here.", "Bool", "false", NULL, set_never },
    { "profile_mode", "cpu: threads that run are sampled; wall: sleeping ones too.", "String",
      "cpu", get_mode, set_mode },
    { "profile_period", "CPU time between two samples of a thread, in microseconds; at least 50.",
      "Int", "1000", get_period, set_period },
    { "profile_period_effective", "The period that the sampler was given for profile_period.",
      "Int", "1000", get_effective_period, NULL },
    { "profile_runtimes",
      "Functions that interpreters and JITs run, in place of the interpreter's own.", "Bool",
      "true", get_runtimes, set_runtimes },
    { "profile_tasks", "Tag samples with the name of the asyncio task that runs.", "Bool", "false",
      get_tasks, set_tasks },
    { "profile_timer",
      "What makes the ticks: sigtrap or cpu-timer; of attached programs perf or suspend.", "String",
      "none", get_timer, NULL },
    { "profile_wall_threads",
      "The threads that wall mode samples: names ('*' for any characters) and tids, with commas.",
      "String", "*", get_wall_threads, set_wall_threads },
    { "profiler", "Sample all threads.", "Bool", "true", get_profiler, set_profiler },
    { "sample_buffer_duration", "0: samples are bounded by bytes, not time.", "Int", "0", NULL,
      NULL },
    { "stall_limit", "From when on a loop's dispatch is a stall, in milliseconds; at least 1.",
      "Int", "250", get_stall_limit, set_stall_limit },
    { "stall_watch",
      "The loops that are watched: auto, all, none, or names ('*' for any characters) with commas.",
      "String", "auto", get_stall_watch, set_stall_watch },
};
enum { FLAG_COUNT = sizeof(flags) / sizeof(*flags) };
_Static_assert(FEED_DEPTH_DEFAULT == 512, "max_profile_depth says so");

static void flag_value(struct service *service, const struct flag *flag, char out[FLAG_TEXT_MAX])
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

        flag_value(service, flag, value);
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

static const struct flag *flag_find(const char *name)
{
    for (size_t i = 0; i < FLAG_COUNT; i++)
        if (!strcmp(flags[i].name, name))
            return &flags[i];
    return NULL;
}

static bool is_value(struct service *service, const struct flag *flag, const char *value)
{
    char now[FLAG_TEXT_MAX];

    flag_value(service, flag, now);
    return !strcmp(value, now);
}

enum flag_set flag_set(struct service *service, const char *name, const char *value,
                       char now[FLAG_TEXT_MAX])
{
    const struct flag *flag = flag_find(name);
    enum flag_set set;

    if (!flag)
        return FLAG_UNKNOWN;
    if (service->saved && flag->set && flag->get && flag->set != set_period)
        set = is_value(service, flag, value) ? FLAG_SET : FLAG_SAVED;
    else
        set = flag->set ? flag->set(service, value) : FLAG_FIXED;
    if (set == FLAG_SET)
        flag_value(service, flag, now);
    return set;
}
