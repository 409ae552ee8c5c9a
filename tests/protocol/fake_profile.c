#include "fake_profile.h"

#include "sampler/include/isoscope/isoscope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct snapshot {
    struct profile *profile;
    struct snapshot_window window;
    struct snapshot_function functions[FAKE_MAX];
    uint32_t count;
    uint32_t end; /* the cursor behind the last sample of it */
    int64_t first_us, last_us;
};

enum { MAIN, SPIN, START, SHELL };

static const struct fake_sample script[] = {
    { 100, 1000, "spin", FEED_END_ROOT, 0, 3, { SPIN, MAIN, START } },
    { 101, 1500, "", FEED_END_ROOT, 0, 1, { SHELL } },
    { 100, 2000, "worker", FEED_END_ROOT, 0, 4, { SPIN, SPIN, MAIN, START } },
    { 100, 2500, "worker", FEED_END_NO_ROW, 0, 2, { MAIN, START } },
};

int64_t fake_epoch_ms(void)
{
    return 1700000000000;
}

int64_t fake_monotonic_us(void)
{
    return 5000000;
}

static void add_process(struct profile *profile, uint64_t id, const char *exe, uint64_t samples,
                        bool live)
{
    struct process_info *process = &profile->processes[profile->process_count++];

    *process = (struct process_info){
        .id = id, .pid = (int32_t)id, .ppid = 1, .start_us = 1000000, .live = live
    };
    process->end_us = live ? 0 : 3000000;
    process->samples = samples;
    process->status.timer = FEED_TIMER_PERF_SIGNAL;
    process->status.true_period_us = 1000;
    process->status.ticks = samples + 1;
    process->status.delivered = samples;
    process->status.lost[FEED_LOSS_RING_FULL] = 1;
    snprintf(process->exe, sizeof(process->exe), "%s", exe);
    snprintf(process->name, sizeof(process->name), "%s", strrchr(exe, '/') + 1);
}

static void add_library(struct profile *profile, const char *path, bool system)
{
    struct snapshot_library *library = &profile->libraries[profile->library_count++];

    snprintf(library->id, sizeof(library->id), "libraries/%u", profile->library_count);
    snprintf(library->build_id, sizeof(library->build_id), "ab%02u", profile->library_count);
    library->path = path;
    library->name = strrchr(path, '/') + 1;
    library->system = system;
}

static void add_function(struct profile *profile, const char *name, const char *raw_name,
                         uint32_t library)
{
    struct snapshot_function *function = &profile->functions[profile->function_count++];

    snprintf(function->id, sizeof(function->id), "functions/%u/%x", library + 1,
             profile->function_count * 16);
    function->name = name;
    function->raw_name = raw_name;
    function->library = library;
}

void fake_profile_init(struct profile *profile)
{
    memset(profile, 0, sizeof(*profile));
    add_process(profile, 100, "/home/user/spin", 3, true);
    add_process(profile, 101, "/usr/bin/sh", 1, false);
    add_process(profile, 102, "/usr/bin/true", 0, false);
    add_library(profile, "/home/user/spin", false);
    add_library(profile, "/usr/lib/libc.so.6", true);
    add_library(profile, "/usr/bin/sh", true);
    add_function(profile, "main", "main", 0);
    add_function(profile, "spin(int&)", "_Z4spinRi", 0);
    add_function(profile, "__libc_start_main", "__libc_start_main", 1);
    add_function(profile, "sh+0x40", "sh+0x40", 2);
    profile->samples = script;
    profile->sample_count = sizeof(script) / sizeof(*script);
    profile->enabled = true;
    profile->period_us = FEED_PERIOD_DEFAULT_US;
    profile->depth_max = FEED_DEPTH_DEFAULT;
    strcpy(profile->wall_threads, "*");
}

size_t profile_processes(struct profile *profile, struct process_info *out, size_t capacity)
{
    for (size_t i = 0; i < profile->process_count && i < capacity; i++)
        out[i] = profile->processes[i];
    return profile->process_count;
}

bool profile_enabled(struct profile *profile)
{
    return profile->enabled;
}

void profile_set_enabled(struct profile *profile, bool enabled)
{
    profile->enabled = enabled;
}

uint32_t profile_period_us(struct profile *profile)
{
    return profile->period_us;
}

void profile_set_period_us(struct profile *profile, uint32_t period_us)
{
    profile->period_us = period_us;
}

uint32_t profile_depth_max(struct profile *profile)
{
    return profile->depth_max;
}

void profile_set_depth_max(struct profile *profile, uint32_t depth_max)
{
    profile->depth_max = depth_max;
}

enum feed_mode profile_mode(struct profile *profile)
{
    return profile->mode;
}

void profile_set_mode(struct profile *profile, enum feed_mode mode)
{
    profile->mode = mode;
}

void profile_wall_threads(struct profile *profile, char out[FEED_WALL_THREADS_BYTES])
{
    memcpy(out, profile->wall_threads, FEED_WALL_THREADS_BYTES);
}

bool profile_set_wall_threads(struct profile *profile, const char *list)
{
    if (!*list || strlen(list) >= FEED_WALL_THREADS_BYTES)
        return false;
    strcpy(profile->wall_threads, list);
    return true;
}

void profile_clear(struct profile *profile, uint64_t process_id)
{
    for (size_t i = 0; i < profile->process_count; i++)
        if (!process_id || profile->processes[i].id == process_id)
            profile->processes[i].samples = 0;
    profile->sample_count = 0;
}

void profile_sync(struct profile *profile)
{
    profile->synced++;
}

static bool shows(const struct snapshot_window *window, const struct fake_sample *sample)
{
    if (window->process_id && window->process_id != sample->process_id)
        return false;
    return !window->bounded || (sample->timestamp_us >= window->origin_us &&
                                sample->timestamp_us - window->origin_us <= window->extent_us);
}

static void count_functions(struct snapshot *snapshot, const struct snapshot_sample *sample)
{
    snapshot->functions[sample->functions[0]].exclusive++;
    for (uint32_t i = 0; i < sample->depth; i++) {
        bool first = true;

        for (uint32_t j = 0; j < i; j++)
            first &= sample->functions[j] != sample->functions[i];
        snapshot->functions[sample->functions[i]].inclusive += first;
    }
}

int snapshot_take(struct snapshot **out, struct profile *profile,
                  const struct snapshot_window *window)
{
    struct snapshot_sample sample;
    struct snapshot *snapshot;
    uint32_t cursor = 0;

    if (profile->pending)
        return -ISOSCOPE_PENDING;
    snapshot = calloc(1, sizeof(*snapshot));
    if (!snapshot)
        return -ISOSCOPE_NO_MEMORY;
    snapshot->profile = profile;
    snapshot->window = *window;
    memcpy(snapshot->functions, profile->functions, sizeof(snapshot->functions));
    snapshot->end = profile->sample_count * (profile->repeat ? profile->repeat : 1);
    while (snapshot_next(snapshot, &cursor, &sample)) {
        if (!snapshot->count++)
            snapshot->first_us = sample.timestamp_us;
        snapshot->last_us = sample.timestamp_us;
        count_functions(snapshot, &sample);
        if (snapshot->count == window->count_max)
            snapshot->end = cursor;
    }
    profile->snapshots++;
    *out = snapshot;
    return 0;
}

void snapshot_free(struct snapshot *snapshot)
{
    if (snapshot)
        snapshot->profile->snapshots--;
    free(snapshot);
}

uint32_t snapshot_sample_count(const struct snapshot *snapshot)
{
    return snapshot->count;
}

int64_t snapshot_first_us(const struct snapshot *snapshot)
{
    return snapshot->first_us;
}

int64_t snapshot_last_us(const struct snapshot *snapshot)
{
    return snapshot->last_us;
}

uint32_t snapshot_period_us(const struct snapshot *snapshot)
{
    return snapshot->profile->period_us;
}

uint32_t snapshot_depth_max(const struct snapshot *snapshot)
{
    return snapshot->profile->depth_max;
}

const struct snapshot_function *snapshot_functions(const struct snapshot *snapshot, uint32_t *count)
{
    *count = snapshot->profile->function_count;
    return snapshot->functions;
}

const struct snapshot_library *snapshot_libraries(const struct snapshot *snapshot, uint32_t *count)
{
    *count = snapshot->profile->library_count;
    return snapshot->profile->libraries;
}

bool snapshot_next(struct snapshot *snapshot, uint32_t *cursor, struct snapshot_sample *out)
{
    const struct profile *profile = snapshot->profile;

    while (*cursor < snapshot->end) {
        const struct fake_sample *sample = &profile->samples[(*cursor)++ % profile->sample_count];

        if (!shows(&snapshot->window, sample))
            continue;
        *out = (struct snapshot_sample){
            .timestamp_us = sample->timestamp_us,
            .process_id = sample->process_id,
            .tid = (int32_t)sample->process_id,
            .thread_name = sample->thread_name,
            .cpu_ns = 1000000,
            .end = sample->end,
            .state = sample->state,
            .depth = sample->depth,
            .functions = sample->functions,
        };
        return true;
    }
    return false;
}
