/* stalls.h over the scripted profile: two loops, and what happens to them by fake_stall_happens. */
#include "fake_profile.h"

#include "sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

struct stalls {
    const struct stall **items;
    size_t count;
    uint64_t change;
};

#define MS(ms) ((int64_t)(ms)*1000000)

static const char *const lock_stack[] = { "pthread_mutex_lock", "write_log", "serve", "main" };
static const char *const parse_stack[] = { "parse\xff", "serve", "main" };
static const char *const lock_prefix[] = { "main", "serve" };

static const struct stall_stack lock_stacks[] = {
    { .at_ns = MS(2000), .state = FEED_STATE_RUNNING, .depth = 3, .functions = parse_stack },
    { .at_ns = MS(2100), .state = FEED_STATE_LOCK, .depth = 4, .functions = lock_stack },
    { .at_ns = MS(2200), .state = FEED_STATE_LOCK, .depth = 4, .functions = lock_stack },
    { .at_ns = MS(2250), .state = FEED_STATE_RUNNING, .depth = 3, .functions = parse_stack },
};

static const struct stall_run lock_runs[] = {
    { .function = "parse\xff", .from_ns = MS(2000), .to_ns = MS(2040), .looks = 4 },
    { .function = "pthread_mutex_lock", .from_ns = MS(2040), .to_ns = MS(2250), .looks = 11 },
};

/* Of the loop of thread 100: it waits for "worker". */
static const struct stall waits = {
    .number = 1,
    .process_id = 100,
    .loop = 1,
    .name = "main",
    .tid = 100,
    .thread_name = "spin",
    .level = STALL_LEVEL_STALL,
    .ongoing = true,
    .told = true,
    .equals = 1,
    .limit_ns = MS(250),
    .start_ns = { MS(2000) - 1500, MS(2000) + 1500 },
    .duration_ns = { MS(260) - 1500, MS(260) + 1500 },
    .cause = STALL_CAUSE_LOCK,
    .evidence = { .running_ns = MS(40),
                  .runnable_ns = MS(1),
                  .sleeping_ns = MS(210),
                  .system_call = "futex",
                  .descriptor = -1,
                  .holder_tid = 110,
                  .holder = "worker",
                  .holder_function = "flush_log" },
    .culprit = { .function = "pthread_mutex_lock", .library = "libc.so.6" },
    .caller = { .function = "write_log",
                .library = "spin",
                .file = "/home/user/src/log.c",
                .line = 42 },
    .culprit_ns = MS(210),
    .culprit_looks = 11,
    .looks = 15,
    .tag = "request",
    .slice = "parse",
    .prefix_count = 2,
    .prefix = lock_prefix,
    .run_count = 2,
    .runs = lock_runs,
    .stack_count = 4,
    .stacks = lock_stacks,
};

/* Of the loop of thread 110: nothing is known but the file. */
static const struct stall reads = {
    .process_id = 100,
    .loop = 2,
    .name = "worker\xff",
    .tid = 110,
    .thread_name = "worker",
    .level = STALL_LEVEL_HANG,
    .told = true,
    .equals = 1,
    .limit_ns = MS(250),
    .start_ns = { MS(3000), MS(3000) },
    .duration_ns = { MS(2100), MS(2100) },
    .cause = STALL_CAUSE_IO,
    .evidence = { .sleeping_ns = MS(2100),
                  .faults = 3,
                  .system_call = "read",
                  .descriptor = 7,
                  .path = "/home/user/data" },
    .culprit = { .function = "" },
    .caller = { .function = "" },
};

static const struct loop_info loops[] = {
    { .number = 1,
      .process_id = 100,
      .tid = 100,
      .name = "main",
      .thread_name = "spin",
      .kind = FEED_LOOP_EPOLL,
      .watched = true,
      .busy = true,
      .dispatches = 13,
      .dispatch = { .count = 13,
                    .buckets = { [6] = 10, [16] = 2, [18] = 1 },
                    .sum_ns = MS(500),
                    .max_ns = { MS(300), MS(301) } },
      .delay = { .count = 2,
                 .buckets = { [0] = 1, [3] = 1 },
                 .sum_ns = 10500,
                 .max_ns = { 9000, 9500 } },
      .blocking_ns = MS(280),
      .levels = { [STALL_LEVEL_JANK] = 2, [STALL_LEVEL_STALL] = 1 },
      .causes = { [STALL_CAUSE_LOCK] = 1 },
      .limits_ms = { 50, 250, 2000, 5000 } },
    { .number = 2,
      .process_id = 100,
      .tid = 110,
      .name = "worker\xff",
      .thread_name = "worker",
      .kind = FEED_LOOP_REGISTERED,
      .ended = true,
      .causes = { [STALL_CAUSE_IO] = 2, [STALL_CAUSE_FAULT] = 1 },
      .dismissed = 4,
      .limits_ms = { 10, 100, 1000, 5000 } },
};

static const struct unwatched_thread unwatched[] = {
    { .process_id = 100, .tid = 111, .name = "ring\xff", .system_call = "io_uring_enter" },
};

void fake_loops(struct profile *profile)
{
    profile->loops = loops;
    profile->loop_count = 2;
    profile->unwatched_count = 1;
}

static struct stall *add(struct profile *profile, const struct stall *stall)
{
    struct stall *added = &profile->stalls[profile->stall_count++];

    *added = *stall;
    added->number = profile->stall_count;
    added->change = ++profile->stall_change;
    return added;
}

void fake_stall_begins(struct profile *profile)
{
    add(profile, &waits);
}

void fake_stall_goes_on(struct profile *profile)
{
    struct stall *stall = &profile->stalls[0];

    stall->level = STALL_LEVEL_HANG;
    stall->updates++;
    stall->duration_ns = (struct stall_range){ MS(2010) - 1500, MS(2010) + 1500 };
    stall->change = ++profile->stall_change;
}

void fake_stall_ends(struct profile *profile)
{
    struct stall *stall = &profile->stalls[0];

    stall->ongoing = false;
    stall->duration_ns = (struct stall_range){ MS(2300) - 1500, MS(2300) - 1500 };
    stall->change = ++profile->stall_change;
}

/* The second is not told. */
void fake_equal_stalls(struct profile *profile)
{
    struct stall *second;

    add(profile, &reads);
    second = add(profile, &reads);
    second->told = false;
    second->equals = 2;
}

static int by_change(const void *a, const void *b)
{
    uint64_t first = (*(const struct stall *const *)a)->change;
    uint64_t second = (*(const struct stall *const *)b)->change;

    return (first > second) - (first < second);
}

static bool is_wanted(const struct stall *stall, const struct stalls_window *window)
{
    int64_t from_us = stall->start_ns.min / 1000;
    int64_t to_us = (stall->start_ns.min + stall->duration_ns.max) / 1000;

    return stall->change > window->since &&
           (!window->process_id || stall->process_id == window->process_id) &&
           (!window->tid || stall->tid == window->tid) &&
           (!window->bounded ||
            (to_us >= window->origin_us && from_us <= window->origin_us + window->extent_us));
}

int stalls_take(struct stalls **out, struct profile *profile, const struct stalls_window *window)
{
    struct stalls *stalls = calloc(1, sizeof(*stalls));

    stalls->items = calloc(profile->stall_count + 1, sizeof(*stalls->items));
    for (uint32_t i = 0; i < profile->stall_count; i++)
        if (is_wanted(&profile->stalls[i], window))
            stalls->items[stalls->count++] = &profile->stalls[i];
    qsort(stalls->items, stalls->count, sizeof(*stalls->items), by_change);
    stalls->change = profile->stall_change;
    if (window->count_max && stalls->count > window->count_max) {
        stalls->count = window->count_max;
        stalls->change = stalls->items[stalls->count - 1]->change;
    }
    *out = stalls;
    return 0;
}

void stalls_free(struct stalls *stalls)
{
    if (stalls)
        free(stalls->items);
    free(stalls);
}

size_t stalls_count(const struct stalls *stalls)
{
    return stalls->count;
}

const struct stall *stalls_at(const struct stalls *stalls, size_t index)
{
    return stalls->items[index];
}

uint64_t stalls_change(const struct stalls *stalls)
{
    return stalls->change;
}

struct stall_counts profile_stall_counts(struct profile *profile)
{
    return (struct stall_counts){ .seen = profile->stall_count,
                                  .told = 2,
                                  .annealed = 3,
                                  .over_stack = 4,
                                  .over_loop = 5,
                                  .evicted = 6,
                                  .lost = 7 };
}

uint64_t profile_stalls_change(struct profile *profile)
{
    return profile->stall_change;
}

struct stall_range loop_times_at(const struct loop_times *times, double fraction)
{
    uint64_t seen = 0;

    for (int i = 0; i < LOOP_BUCKETS; i++) {
        seen += times->buckets[i];
        if (seen && (double)seen >= fraction * (double)times->count)
            return (struct stall_range){ i ? (INT64_C(1) << i) * 1000 : 0,
                                         (INT64_C(2) << i) * 1000 };
    }
    return (struct stall_range){ 0, 0 };
}

size_t profile_loops(struct profile *profile, uint64_t process_id, struct loop_info *out,
                     size_t capacity)
{
    size_t count = 0;

    for (uint32_t i = 0; i < profile->loop_count; i++) {
        if (process_id && profile->loops[i].process_id != process_id)
            continue;
        if (count < capacity)
            out[count] = profile->loops[i];
        count++;
    }
    return count;
}

size_t profile_unwatched(struct profile *profile, uint64_t process_id, struct unwatched_thread *out,
                         size_t capacity)
{
    size_t count = process_id && process_id != 100 ? 0 : profile->unwatched_count;

    for (size_t i = 0; i < count && i < capacity; i++)
        out[i] = unwatched[i];
    return count;
}

size_t profile_cpu_high(struct profile *profile, uint64_t since, struct cpu_high *out,
                        size_t capacity)
{
    size_t count = 0;

    for (uint64_t number = since + 1; number <= profile->cpu_highs; number++) {
        if (count < capacity)
            out[count] = (struct cpu_high){ .number = number,
                                            .process_id = 100,
                                            .tid = number % 2 ? 110 : 0,
                                            .from_us = 2000000,
                                            .to_us = 62000000,
                                            .permille = 934 };
        count++;
    }
    return count;
}

struct stall_settings profile_stall_settings(struct profile *profile)
{
    return profile->stall_settings;
}

void profile_apply_stall_settings(struct profile *profile, const struct stall_settings *settings)
{
    static const uint32_t usual_ms[STALL_LEVEL_COUNT] = { 50, 250, 2000, 5000 };
    uint32_t least = 1;

    profile->stall_settings = *settings;
    for (int level = 0; level < STALL_LEVEL_COUNT; level++) {
        uint32_t *limit_ms = &profile->stall_settings.limits_ms[level];

        *limit_ms = *limit_ms ? *limit_ms : usual_ms[level];
        least = *limit_ms = *limit_ms < least ? least : *limit_ms;
    }
}

void profile_stalls_clear(struct profile *profile, uint64_t process_id)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < profile->stall_count; i++)
        if (profile->stalls[i].ongoing ||
            (process_id && profile->stalls[i].process_id != process_id))
            profile->stalls[kept++] = profile->stalls[i];
    profile->stall_count = kept;
}
