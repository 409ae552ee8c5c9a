#include "environment.h"

#include "../../sampler/feed/message.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRELOAD "LD_PRELOAD"

enum { OWN_COUNT = 9, COLLECTOR_COUNT = 3, OPTION_COUNT = 2 };

struct environment {
    char *own[OWN_COUNT];              /* the strings that we made; also the first ones of list */
    char *collectors[COLLECTOR_COUNT]; /* NULL: the program has its own */
    char *options[OPTION_COUNT];       /* NULL: not wanted, or the user has decided */
    char *list[];
};

static const char *const own_names[OWN_COUNT] = {
    PRELOAD,          FEED_ENV_SOCKET, FEED_ENV_PERIOD,
    FEED_ENV_ENABLED, FEED_ENV_TIMER,  FEED_ENV_WATCH_LOOPS,
    FEED_ENV_ALLOC,   FEED_ENV_LOCK,   FEED_ENV_FAULTS,
};

/* Where programs look for who listens to what they tell (sampler/collectors). */
static const struct {
    const char *name, *library;
} collectors[COLLECTOR_COUNT] = {
    { "INTEL_LIBITTNOTIFY64", "libisoscope_itt.so" },
    { "INTEL_JIT_PROFILER64", "libisoscope_itt.so" },
    { "NVTX_INJECTION64_PATH", "libisoscope_nvtx.so" },
};

/* By which a runtime writes the names of the code that it makes to /tmp/perf-PID.map. */
static const struct {
    const char *name, *value;
    bool joined; /* it holds several, and the last of a kind counts */
} runtime_options[OPTION_COUNT] = {
    { "ERL_AFLAGS", "+JPperf true", true },
    { "DOTNET_PerfMapEnabled", "1", false },
};

static const char *value_of(const char *entry, const char *name)
{
    size_t length = strlen(name);

    return !strncmp(entry, name, length) && entry[length] == '=' ? entry + length + 1 : NULL;
}

static bool is_own(const char *entry)
{
    for (int i = 0; i < OWN_COUNT; i++)
        if (value_of(entry, own_names[i]))
            return true;
    return false;
}

/* Before, and a part behind it; takes over before. NULL: out of memory. */
static char *joined(char *before, const char *part)
{
    char *text = NULL;

    if (before && asprintf(&text, "%s:%s", before, part) < 0)
        text = NULL;
    free(before);
    return text;
}

static char *preload_entry(char *const *base, const struct environment_feed *feed)
{
    const char *before = NULL;
    char *entry = NULL;

    for (; *base && !before; base++)
        before = value_of(*base, PRELOAD);
    if (asprintf(&entry, PRELOAD "=%s", feed->library) < 0)
        return NULL;
    for (int i = 0; i < ENVIRONMENT_COMPANIONS; i++)
        if (feed->companions[i])
            entry = joined(entry, feed->companions[i]);
    return before && before[0] ? joined(entry, before) : entry;
}

static char *text_entry(const char *name, const char *value)
{
    char *entry = NULL;

    return asprintf(&entry, "%s=%s", name, value) < 0 ? NULL : entry;
}

static bool make_own(char *own[OWN_COUNT], char *const *base, const struct environment_feed *feed)
{
    char period[16], alloc[16], lock[16], faults[16];

    snprintf(period, sizeof(period), "%u", feed->period_us);
    snprintf(alloc, sizeof(alloc), "%u", feed->allocation_bytes);
    snprintf(lock, sizeof(lock), "%u", feed->lock_us);
    snprintf(faults, sizeof(faults), "%u", feed->faults);
    own[0] = preload_entry(base, feed);
    own[1] = text_entry(FEED_ENV_SOCKET, feed->socket);
    own[2] = text_entry(FEED_ENV_PERIOD, period);
    own[3] = text_entry(FEED_ENV_ENABLED, feed->enabled ? "1" : "0");
    own[4] = text_entry(FEED_ENV_TIMER, feed->timer);
    own[5] = text_entry(FEED_ENV_WATCH_LOOPS, feed->watch_loops);
    own[6] = text_entry(FEED_ENV_ALLOC, alloc);
    own[7] = text_entry(FEED_ENV_LOCK, lock);
    own[8] = text_entry(FEED_ENV_FAULTS, faults);
    for (int i = 0; i < OWN_COUNT; i++)
        if (!own[i])
            return false;
    return true;
}

static bool has(char *const *base, const char *name)
{
    for (; *base; base++)
        if (value_of(*base, name))
            return true;
    return false;
}

static bool make_collectors(char *entries[COLLECTOR_COUNT], char *const *base, const char *folder)
{
    for (int i = 0; folder && i < COLLECTOR_COUNT; i++)
        if (!has(base, collectors[i].name) && asprintf(&entries[i], "%s=%s/%s", collectors[i].name,
                                                       folder, collectors[i].library) < 0) {
            entries[i] = NULL;
            return false;
        }
    return true;
}

/* The user's own stand behind ours: they may begin what is no option any more (-extra). */
static bool make_options(char *entries[OPTION_COUNT], char *const *base)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *before = NULL;
        int length = 0;

        for (char *const *entry = base; *entry && !before; entry++)
            before = value_of(*entry, runtime_options[i].name);
        if (!before || !before[0])
            length =
                asprintf(&entries[i], "%s=%s", runtime_options[i].name, runtime_options[i].value);
        else if (runtime_options[i].joined)
            length = asprintf(&entries[i], "%s=%s %s", runtime_options[i].name,
                              runtime_options[i].value, before);
        if (length < 0) {
            entries[i] = NULL;
            return false;
        }
    }
    return true;
}

/* Of the user's: one of ours stands for it. */
static bool is_replaced(const struct environment *environment, const char *entry)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (environment->options[i] && value_of(entry, runtime_options[i].name))
            return true;
    return is_own(entry);
}

int environment_new(struct environment **out, char *const *base,
                    const struct environment_feed *feed)
{
    size_t count = 0;

    while (base[count])
        count++;

    struct environment *environment =
        calloc(1, sizeof(*environment) +
                      (OWN_COUNT + COLLECTOR_COUNT + OPTION_COUNT + count + 1) * sizeof(char *));
    if (!environment || !make_own(environment->own, base, feed) ||
        !make_collectors(environment->collectors, base, feed->collectors) ||
        (feed->runtime_options && !make_options(environment->options, base))) {
        environment_free(environment);
        return -ISOSCOPE_NO_MEMORY;
    }

    char **next = environment->list;
    for (int i = 0; i < OWN_COUNT; i++)
        *next++ = environment->own[i];
    for (int i = 0; i < COLLECTOR_COUNT; i++)
        if (environment->collectors[i])
            *next++ = environment->collectors[i];
    for (int i = 0; i < OPTION_COUNT; i++)
        if (environment->options[i])
            *next++ = environment->options[i];
    for (size_t i = 0; i < count; i++)
        if (!is_replaced(environment, base[i]))
            *next++ = base[i];
    *out = environment;
    return 0;
}

void environment_free(struct environment *environment)
{
    if (!environment)
        return;
    for (int i = 0; i < OWN_COUNT; i++)
        free(environment->own[i]);
    for (int i = 0; i < COLLECTOR_COUNT; i++)
        free(environment->collectors[i]);
    for (int i = 0; i < OPTION_COUNT; i++)
        free(environment->options[i]);
    free(environment);
}

void environment_freep(struct environment **environment)
{
    environment_free(*environment);
}

char **environment_list(const struct environment *environment)
{
    return (char **)environment->list;
}
