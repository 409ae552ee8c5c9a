#include "fake_profile.h"

#include "sampler/include/isoscope/isoscope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct snapshot {
    struct profile *profile;
    struct snapshot_function functions[FAKE_MAX];
    uint32_t count;
    uint32_t script_count;         /* of the profile's samples, which may be cleared meanwhile */
    struct snapshot_frame *frames; /* FAKE_DEPTH_MAX of each sample of the script */
    uint32_t stack[FAKE_DEPTH_MAX];
    bool *shown;  /* by sample of the script */
    bool pending; /* names were read when it began */
    struct snapshot_cursor cursor;
    uint32_t begin; /* the cursor before the first sample of it */
    uint32_t end;   /* the cursor behind the last sample of it */
    int64_t first_us, last_us;
};

enum { MAIN, SPIN, START, SHELL };

#define NO_PC SNAPSHOT_NO_OFFSET

/* A chain of inlined frames is one pc; the last stack is of code that has only a name. */
static const struct fake_sample script[] = {
    { 100,
      1000,
      "spin",
      FEED_END_ROOT,
      0,
      3,
      { { SPIN, 12, 1, NULL, 0x14 }, { MAIN, 30, 0, NULL, 0x14 }, { START, 0, 0, NULL, 0x3f } } },
    { 101, 1500, "", FEED_END_ROOT, 0, 1, { { SHELL, 0, 0, NULL, 0x40 } } },
    { 100,
      2000,
      "worker",
      FEED_END_ROOT,
      0,
      4,
      { { SPIN, 12, 1, NULL, 0x24 },
        { SPIN, 14, 0, NULL, 0x24 },
        { MAIN, 31, 0, "/home/user/src/table.inc", 0x18 },
        { START, 0, 0, NULL, 0x3f } } },
    { 100,
      2500,
      "worker",
      FEED_END_NO_ROW,
      0,
      2,
      { { MAIN, 0, 0, NULL, NO_PC }, { START, 0, 0, NULL, NO_PC } } },
};

int64_t fake_epoch_ms(void)
{
    return 1700000000000;
}

static int64_t passed_us;

int64_t fake_monotonic_us(void)
{
    return 5000000 + passed_us;
}

void fake_monotonic_pass(int64_t us)
{
    passed_us += us;
}

static void add_process(struct profile *profile, uint64_t id, const char *exe, uint64_t samples,
                        bool live)
{
    struct process_info *process = &profile->processes[profile->process_count++];

    *process = (struct process_info){ .id = id,
                                      .pid = (int32_t)id,
                                      .ppid = 1,
                                      .start_us = 1000000,
                                      .live = live,
                                      .enabled = true,
                                      .period_us = 1000 };
    process->end_us = live ? 0 : 3000000;
    process->samples = samples;
    process->status.timer = FEED_TIMER_PERF_TRAP;
    process->status.allocations_seen = FEED_ALLOCATIONS_SEEN;
    process->status.true_period_us = 1000;
    process->status.ticks = samples + 1;
    process->status.delivered = samples;
    process->status.lost[FEED_LOSS_RING_FULL] = 1;
    snprintf(process->exe, sizeof(process->exe), "%s", exe);
    snprintf(process->name, sizeof(process->name), "%s", strrchr(exe, '/') + 1);
    if (id != 101)
        return;
    process->place = (struct process_place){ .engine = "docker", .container = "3f29c0e1a2b4" };
    snprintf(process->place_label, sizeof(process->place_label), "docker 3f29c0e1a2b4");
}

static void add_library(struct profile *profile, const char *path, bool system)
{
    struct snapshot_library *library = &profile->libraries[profile->library_count++];

    snprintf(library->id, sizeof(library->id), "libraries/%u", profile->library_count);
    snprintf(library->build_id, sizeof(library->build_id), "ab%02u", profile->library_count);
    library->path = path;
    library->load_bias = profile->library_count * 0x1000;
    library->name = strrchr(path, '/') + 1;
    library->system = system;
    library->code_offset = 0x1000;
    library->code_bytes = 0x800;
    library->code_file_offset = 0x400;
}

/* Lends it, for what is more to say of it. */
static struct snapshot_function *add_function(struct profile *profile, const char *name,
                                              const char *raw_name, uint32_t library)
{
    struct snapshot_function *function = &profile->functions[profile->function_count++];

    function->offset = profile->function_count * 16;
    function->size = 16;
    snprintf(function->id, sizeof(function->id), "functions/%u/%x", library + 1,
             (unsigned)function->offset);
    function->name = function->full_name = name;
    function->raw_name = raw_name;
    function->library = library;
    return function;
}

static void add_place(struct snapshot_function *function, const char *file, uint32_t file_number,
                      uint32_t line)
{
    function->file = file;
    function->file_number = file_number;
    function->line = line;
}

void fake_profile_init(struct profile *profile)
{
    struct snapshot_function *spin, *shell;

    memset(profile, 0, sizeof(*profile));
    passed_us = 0;
    add_process(profile, 100, "/home/user/spin", 3, true);
    add_process(profile, 101, "/usr/bin/sh", 1, false);
    add_process(profile, 102, "/usr/bin/true", 0, false);
    add_library(profile, "/home/user/spin", false);
    add_library(profile, "/usr/lib/libc.so.6", true);
    add_library(profile, "/usr/bin/sh", true);
    add_place(add_function(profile, "main", "main", 0), "/home/user/src/spin.c", 7, 28);
    spin = add_function(profile, "spin(int&)", "_Z4spinRi", 0);
    spin->full_name = "void spin(int&)";
    add_place(spin, "/home/user/src/a b.h", 9, 10);
    add_place(add_function(profile, "__libc_start_main", "__libc_start_main", 1), "./csu/start.c",
              11, 242);
    shell = add_function(profile, "sh+0x40", "sh+0x40", 2);
    shell->kind = SNAPSHOT_UNNAMED;
    shell->size = 0;
    profile->libraries[2].reason = "the file has no symbols";
    profile->libraries[2].code_bytes = 0;
    profile->libraries[2].lines_reason = "the file has no debug data";
    profile->samples = script;
    profile->sample_count = sizeof(script) / sizeof(*script);
    profile_apply_stall_settings(profile, &(struct stall_settings){ .watch = FEED_WATCH_AUTO });
    profile->settings = (struct feed_settings){ .enabled = true,
                                                .wants = FEED_WANT_RUNTIMES,
                                                .period_us = FEED_PERIOD_DEFAULT_US,
                                                .depth_max = FEED_DEPTH_DEFAULT,
                                                .wall_threads = "*" };
}

void fake_script(struct profile *profile)
{
    profile->libraries[0].path = "/home/user/spin.py";
    profile->libraries[0].name = "spin.py";
    profile->libraries[0].runtime = "python";
    for (uint32_t i = 0; i < 2; i++)
        profile->functions[i].kind = SNAPSHOT_INTERPRETED;
}

static uint64_t add_bytes(uint64_t hash, const void *bytes, size_t length)
{
    for (const unsigned char *at = bytes; length--; at++)
        hash = (hash ^ *at) * UINT64_C(0x100000001b3);
    return hash;
}

/* Of the contents, for tests change them as they like. */
uint64_t profile_version(struct profile *profile)
{
    uint64_t hash =
        add_bytes(1, profile->processes, profile->process_count * sizeof(*profile->processes));

    return add_bytes(hash, profile->threads, profile->thread_count * sizeof(*profile->threads)) | 1;
}

size_t profile_processes(struct profile *profile, struct process_info *out, size_t capacity)
{
    profile->looks++;
    for (size_t i = 0; i < profile->process_count && i < capacity; i++)
        out[i] = profile->processes[i];
    return profile->process_count;
}

bool profile_process(struct profile *profile, uint64_t process_id, struct process_info *out)
{
    for (size_t i = 0; i < profile->process_count; i++) {
        if (profile->processes[i].id != process_id)
            continue;
        *out = profile->processes[i];
        return true;
    }
    return false;
}

void profile_host_cpu(struct profile *profile, char *out, size_t size)
{
    (void)profile;
    snprintf(out, size, "Fake CPU");
}

static bool lives(struct profile *profile, uint64_t process_id)
{
    struct process_info process;

    return profile_process(profile, process_id, &process) && process.live;
}

struct process_memory profile_memory(struct profile *profile, uint64_t process_id)
{
    if (!lives(profile, process_id))
        return (struct process_memory){ 0 };
    return (struct process_memory){ .rss_bytes = 9 << 20,
                                    .rss_max_bytes = 10 << 20,
                                    .own_bytes = 4 << 20,
                                    .reserved_bytes = 8 << 20 };
}

void profile_mappings(struct profile *profile, uint64_t process_id, mapping_found found,
                      void *context)
{
    static const struct {
        const char *path;
        uint64_t bytes;
    } mappings[] = { { "/home/user/spin", 4096 }, { "/home/user/spin", 8192 },
                     { "[heap]", 65536 },         { "", 20480 },
                     { "[anon: arena]", 4096 },   { "/usr/lib/libc.so.6", 16384 },
                     { "/usr/lib/unused.so", 0 }, { "/memfd:feed (deleted)", 4096 },
                     { "[stack]", 12288 },        { "[vdso]", 0 } };

    for (size_t i = 0; lives(profile, process_id) && i < sizeof(mappings) / sizeof(*mappings); i++)
        found(context, mappings[i].path, mappings[i].bytes);
}

char *profile_source_text(struct profile *profile, const char *file, size_t *length)
{
    (void)profile;
    (void)file;
    (void)length;
    return NULL;
}

struct feed_settings profile_settings(struct profile *profile)
{
    return profile->settings;
}

void profile_apply_settings(struct profile *profile, const struct feed_settings *settings)
{
    profile->settings = *settings;
}

bool profile_apply_process_settings(struct profile *profile, uint64_t process_id,
                                    const struct process_settings *settings)
{
    for (size_t i = 0; i < profile->process_count; i++) {
        struct process_info *process = &profile->processes[i];

        if (process->id != process_id)
            continue;
        process->enabled = settings->given ? settings->enabled : profile->settings.enabled;
        process->period_us = settings->given && settings->period_us ? settings->period_us
                                                                    : profile->settings.period_us;
        return true;
    }
    return false;
}

void profile_clear(struct profile *profile, uint64_t process_id)
{
    for (size_t i = 0; i < profile->process_count; i++)
        if (!process_id || profile->processes[i].id == process_id)
            profile->processes[i].samples = 0;
    profile->sample_count = 0;
    profile->clears++;
}

/* Of the thread's samples it forgets the count only: the script stays. */
void profile_clear_thread(struct profile *profile, uint64_t process_id, int32_t tid)
{
    for (size_t i = 0; i < profile->thread_count; i++)
        if (profile->processes[0].id == process_id && profile->threads[i].tid == tid)
            profile->threads[i--] = profile->threads[--profile->thread_count];
}

size_t profile_threads(struct profile *profile, uint64_t process_id, struct profile_thread *out,
                       size_t capacity)
{
    size_t count = profile->processes[0].id == process_id ? profile->thread_count : 0;

    memcpy(out, profile->threads, (count < capacity ? count : capacity) * sizeof(*out));
    return count;
}

int32_t fake_tid(const struct profile *profile, const struct fake_sample *sample)
{
    for (size_t i = 0; i < profile->thread_count; i++)
        if (!strcmp(profile->threads[i].name, sample->thread_name))
            return profile->threads[i].tid;
    return (int32_t)sample->process_id;
}

struct profile_symbols profile_symbols(struct profile *profile)
{
    return profile->symbols;
}

struct profile_cpu profile_cpu(struct profile *profile)
{
    (void)profile;
    return (struct profile_cpu){
        .processes = 2, .sampled_ns = 3000000, .not_sampled_ns = 2000, .tree_ns = 3502000
    };
}

struct profile_history profile_history(struct profile *profile)
{
    (void)profile;
    return (struct profile_history){ 1 << 20, 64 << 20, 1000000, 4000000 };
}

bool profile_library(struct profile *profile, const char *id, struct snapshot_library *out)
{
    for (uint32_t i = 0; i < profile->library_count; i++) {
        if (strcmp(profile->libraries[i].id, id))
            continue;
        *out = profile->libraries[i];
        return true;
    }
    return false;
}

bool profile_function(struct profile *profile, const char *id, struct profile_function *out)
{
    for (uint32_t i = 0; i < profile->function_count; i++) {
        if (strcmp(profile->functions[i].id, id))
            continue;
        out->function = profile->functions[i];
        out->library = profile->libraries[out->function.library];
        return true;
    }
    return false;
}

/* As many as fit, and how many there are. */
size_t profile_scripts(struct profile *profile, uint64_t process_id, struct profile_script *out,
                       size_t capacity)
{
    size_t count = 0;

    for (uint32_t i = 0; i < profile->function_count; i++) {
        const struct snapshot_function *function = &profile->functions[i];
        const struct snapshot_library *library = &profile->libraries[function->library];

        if (library->system || (process_id && process_id != profile->processes[0].id))
            continue;
        if (count < capacity)
            out[count] = (struct profile_script){ function->file, function->file_number, *library };
        count++;
    }
    return count;
}

void profile_sync(struct profile *profile)
{
    profile->synced++;
}

static bool has_tag(const char *const *user_tags, const struct fake_sample *sample)
{
    for (; user_tags && *user_tags; user_tags++)
        if (!strcmp(*user_tags, snapshot_user_tag(NULL, sample->thread_name)))
            return true;
    return !user_tags;
}

static bool shows(const struct snapshot *snapshot, const struct snapshot_window *window,
                  const struct fake_sample *sample)
{
    if (!has_tag(window->user_tags, sample))
        return false;
    if (window->tid && window->tid != fake_tid(snapshot->profile, sample))
        return false;
    if (window->process_id && window->process_id != sample->process_id)
        return false;
    return !window->bounded || (sample->timestamp_us >= window->origin_us &&
                                sample->timestamp_us - window->origin_us <= window->extent_us);
}

static void count_functions(struct snapshot *snapshot, const struct snapshot_sample *sample)
{
    const struct snapshot_frame *frames = snapshot->frames;

    snapshot->functions[frames[sample->frames[0]].function].exclusive++;
    for (uint32_t i = 0; i < sample->depth; i++) {
        bool first = true;

        for (uint32_t j = 0; j < i; j++)
            first &= frames[sample->frames[j]].function != frames[sample->frames[i]].function;
        snapshot->functions[frames[sample->frames[i]].function].inclusive += first;
    }
}

static bool copy_frames(struct snapshot *snapshot, const struct profile *profile)
{
    size_t count = (size_t)profile->sample_count * FAKE_DEPTH_MAX;

    snapshot->frames = calloc(count + 1, sizeof(*snapshot->frames));
    for (size_t i = 0; snapshot->frames && i < count; i++)
        snapshot->frames[i] = profile->samples[i / FAKE_DEPTH_MAX].frames[i % FAKE_DEPTH_MAX];
    return snapshot->frames != NULL;
}

int snapshot_step(struct snapshot *snapshot, int64_t *work)
{
    if (snapshot->profile->damaged)
        return -ISOSCOPE_DAMAGED;
    if (!snapshot->profile->turns)
        return snapshot->pending ? -ISOSCOPE_PENDING : 0;
    snapshot->profile->turns--;
    *work = 0;
    return 1;
}

bool snapshot_ready(struct snapshot *snapshot, uint32_t cursor, int64_t *work)
{
    (void)snapshot;
    (void)cursor;
    return *work > 0;
}

int snapshot_begin(struct snapshot **out, struct profile *profile,
                   const struct snapshot_window *window)
{
    struct snapshot_sample sample;
    struct snapshot *snapshot;
    uint32_t cursor = 0;

    snapshot = calloc(1, sizeof(*snapshot));
    if (!snapshot || !copy_frames(snapshot, profile)) {
        free(snapshot);
        return -ISOSCOPE_NO_MEMORY;
    }
    snapshot->profile = profile;
    snapshot->pending = profile->pending && !window->partial_names_ok;
    snapshot->shown = calloc(profile->sample_count + 1, sizeof(*snapshot->shown));
    for (uint32_t i = 0; i < profile->sample_count; i++)
        snapshot->shown[i] = shows(snapshot, window, &profile->samples[i]);
    memcpy(snapshot->functions, profile->functions, sizeof(snapshot->functions));
    snapshot->script_count = profile->sample_count;
    snapshot->begin = window->since ? window->since->sample : 0;
    snapshot->end = profile->sample_count * (profile->repeat ? profile->repeat : 1);
    while (snapshot_next(snapshot, &cursor, &sample)) {
        if (!snapshot->count++)
            snapshot->first_us = sample.timestamp_us;
        snapshot->last_us = sample.timestamp_us;
        count_functions(snapshot, &sample);
        if (snapshot->count == window->count_max)
            snapshot->end = cursor;
    }
    snapshot->cursor = (struct snapshot_cursor){ 1, snapshot->end };
    profile->snapshots++;
    *out = snapshot;
    return 0;
}

void snapshot_free(struct snapshot *snapshot)
{
    if (snapshot) {
        snapshot->profile->snapshots--;
        free(snapshot->frames);
        free(snapshot->shown);
    }
    free(snapshot);
}

void snapshot_freep(struct snapshot **snapshot)
{
    snapshot_free(*snapshot);
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
    return snapshot->profile->settings.period_us;
}

uint32_t snapshot_depth_max(const struct snapshot *snapshot)
{
    return snapshot->profile->settings.depth_max;
}

struct snapshot_cursor snapshot_cursor(const struct snapshot *snapshot)
{
    return snapshot->cursor;
}

int profile_user_tags(struct profile *profile, void (*found)(void *context, const char *user_tag),
                      void *context)
{
    for (uint32_t i = 0; i < profile->sample_count; i++)
        found(context, snapshot_user_tag(NULL, profile->samples[i].thread_name));
    return 0;
}

int profile_states(struct profile *profile, uint64_t process_id, int32_t tid,
                   uint64_t counts[FEED_STATE_COUNT + 1])
{
    memset(counts, 0, (FEED_STATE_COUNT + 1) * sizeof(*counts));
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct fake_sample *sample = &profile->samples[i];

        if (sample->process_id == process_id && (!tid || tid == fake_tid(profile, sample)))
            counts[sample->state < FEED_STATE_COUNT ? sample->state : FEED_STATE_COUNT]++;
    }
    return 0;
}

const struct snapshot_function *snapshot_functions(const struct snapshot *snapshot, uint32_t *count)
{
    *count = snapshot->profile->function_count;
    return snapshot->functions;
}

const struct snapshot_frame *snapshot_frames(const struct snapshot *snapshot, uint32_t *count)
{
    *count = snapshot->script_count * FAKE_DEPTH_MAX;
    return snapshot->frames;
}

const struct snapshot_library *snapshot_libraries(const struct snapshot *snapshot, uint32_t *count)
{
    *count = snapshot->profile->library_count;
    return snapshot->profile->libraries;
}

static void fill_stack(struct snapshot *snapshot, uint32_t place)
{
    for (uint32_t i = 0; i < snapshot->profile->samples[place].depth; i++)
        snapshot->stack[i] = place * FAKE_DEPTH_MAX + i;
}

bool snapshot_next(struct snapshot *snapshot, uint32_t *cursor, struct snapshot_sample *out)
{
    const struct profile *profile = snapshot->profile;

    if (*cursor < snapshot->begin)
        *cursor = snapshot->begin;
    while (*cursor < snapshot->end) {
        const struct fake_sample *sample = &profile->samples[(*cursor)++ % snapshot->script_count];

        if (!snapshot->shown[sample - profile->samples])
            continue;
        *out = (struct snapshot_sample){
            .timestamp_us = sample->timestamp_us,
            .process_id = sample->process_id,
            .tid = fake_tid(snapshot->profile, sample),
            .thread_name = sample->thread_name,
            .weight = 1000000,
            .objects = 2.5,
            .end = sample->end,
            .state = sample->state,
            .depth = sample->depth,
            .frames = snapshot->stack,
            .place = (uint32_t)(sample - profile->samples),
        };
        fill_stack(snapshot, out->place);
        return true;
    }
    return false;
}

uint32_t snapshot_stack(struct snapshot *snapshot, uint32_t place, const uint32_t **frames)
{
    fill_stack(snapshot, place);
    *frames = snapshot->stack;
    return snapshot->profile->samples[place].depth;
}
