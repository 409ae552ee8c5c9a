/*
 * sessions_bench.c - large sessions: made by the recorder's own writer, and opened.
 *
 *     sessions_bench make FILE SAMPLES      a second's worth of samples (1,000) a piece, as a
 *                                           recording of one thread at 1 kHz has them
 *     sessions_bench open FILE              each figure on a line, as sessions.py reads them
 */
#include "sampler/include/isoscope/isoscope.h"
#include "sampler/profile/intake/processes.h"
#include "sampler/profile/parts.h"
#include "sampler/profile/profile.h"
#include "sampler/profile/saved.h"
#include "sampler/profile/session/record_file.h"
#include "sampler/profile/session/session_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    PERIOD_US = 1000,
    PIECE_SAMPLES = 1000,
    FUNCTIONS = 6000,
    FILES = 300,
    PATHS = 3000, /* callers' stacks */
    PATH_DEPTH = 24,
    LEAVES = 5, /* of a caller that most of its samples have */
    WINDOW_US = 10000000,
};

struct maker {
    struct profile *profile;
    struct owner *owner;
    struct owner_thread *thread;
    struct session_writer *writer;
    struct record_file file;
    struct bytes blocks;
    uint32_t module;
    uint64_t paths[PATHS][PATH_DEPTH];
    uint64_t random;
    int64_t time_us;
};

static void must(bool done, const char *what)
{
    if (done)
        return;
    fprintf(stderr, "sessions_bench: %s failed\n", what);
    exit(1);
}

static uint32_t draw(struct maker *maker, uint32_t below)
{
    maker->random ^= maker->random << 13;
    maker->random ^= maker->random >> 7;
    maker->random ^= maker->random << 17;
    return (uint32_t)(maker->random >> 11) % below;
}

/* Some are far more frequent than others, as in programs. */
static uint32_t draw_hot(struct maker *maker, uint32_t below)
{
    uint32_t range = 1 + draw(maker, below);

    return draw(maker, 1 + draw(maker, range));
}

static void add_functions(struct maker *maker)
{
    struct functions *functions = maker->profile->functions;
    char name[96], file[64];

    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        struct function_source source = { .module = maker->module,
                                          .start = 256 * (uint64_t)i,
                                          .size = 256,
                                          .file = file,
                                          .line = i % 3000 };

        snprintf(name, sizeof(name), "library::part%u::Class%u::method_%u(int, long)", i % 40,
                 i % 500, i);
        snprintf(file, sizeof(file), "/usr/src/library/source/file_%u.cc", i % FILES);
        source.name = source.full_name = source.raw_name = functions_text(functions, name);
        must(functions_number(functions, &source) == i + 1, "functions_number");
    }
}

/* An address of a function, which gets its line. */
static uint64_t address(struct maker *maker, uint32_t function, uint32_t place)
{
    uint64_t frame = FRAME_KEY(maker->module, 256 * (uint64_t)function + 8 * place);
    struct chain_frame chain = { .function = function + 1, .line = function % 3000 + place };

    must(inline_chains_put(maker->profile->chains, frame, &chain, 1) == 0, "inline_chains_put");
    return frame;
}

/* Each shares a part with one before it. */
static void make_paths(struct maker *maker)
{
    for (uint32_t path = 0; path < PATHS; path++) {
        uint32_t shared = path ? draw(maker, PATH_DEPTH - 1) : 0;

        if (path)
            memcpy(maker->paths[path], maker->paths[draw(maker, path)], shared * sizeof(uint64_t));
        for (uint32_t i = shared; i < PATH_DEPTH; i++)
            maker->paths[path][i] = address(maker, draw_hot(maker, FUNCTIONS), draw(maker, 30));
    }
}

static void add_samples(struct maker *maker, uint32_t count)
{
    uint64_t frames[PATH_DEPTH + 1];
    struct store_sample sample = { .thread = maker->thread,
                                   .depth = PATH_DEPTH + 1,
                                   .frames = frames };

    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *path = maker->paths[draw_hot(maker, PATHS)];
        uint32_t noise = draw(maker, 40);

        for (uint32_t frame = 0; frame < PATH_DEPTH; frame++)
            frames[PATH_DEPTH - frame] = path[frame];
        frames[0] = address(maker, (uint32_t)(path[PATH_DEPTH - 1] >> 8 & 0xfff),
                            draw(maker, 10) ? draw(maker, LEAVES) : draw(maker, 32));
        sample.timestamp_us = maker->time_us += PERIOD_US + noise - 20;
        sample.weight = (uint64_t)(PERIOD_US + noise - 20 - draw(maker, 2)) * 1000;
        must(store_add(maker->profile->stores.of[SAMPLES_OF_TIME], &sample) == 0, "store_add");
    }
}

static void take(struct maker *maker)
{
    uint32_t waits;
    int result;

    do
        result = session_writer_samples(maker->writer, &maker->blocks);
    while (result > 0);
    must(!result && session_writer_tables(maker->writer, maker->time_us, &maker->blocks) == 0 &&
             session_writer_names(maker->writer, &maker->blocks, &waits) == 0,
         "session_writer");
}

static void write_blocks(struct maker *maker)
{
    must(record_file_append(&maker->file, &maker->blocks) == 0, "writing");
    bytes_clear(&maker->blocks);
}

static void open_maker(struct maker *maker, const char *path)
{
    static const struct session_options options;
    static const uint8_t build_id[20] = { 1, 2, 3 };
    const struct process_saved process = {
        .info = { .id = 4242, .pid = 4242, .exe = "/usr/bin/synthetic", .start_us = 1 }
    };

    maker->random = 88172645463325252;
    maker->time_us = 1000000;
    must(profile_new(&maker->profile, &(struct profile_options){ 0 }) == 0, "profile_new");
    maker->module =
        registry_number(maker->profile->registry, "/usr/lib/libsynthetic.so", build_id, 20);
    atomic_store(&registry_module(maker->profile->registry, maker->module)->names,
                 MODULE_NAMES_READ);
    must(processes_restore(maker->profile->processes, &process, &maker->owner) == 0 &&
             owner_thread_new(&maker->thread, maker->owner, 4242, "main") == 0 &&
             session_writer_new(&maker->writer, maker->profile, &options, true) == 0 &&
             session_writer_begin(maker->writer, maker->time_us, &maker->blocks) == 0 &&
             record_file_create(&maker->file, path, &maker->blocks) == 0,
         "beginning");
    bytes_clear(&maker->blocks);
    add_functions(maker);
    make_paths(maker);
}

static double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int make(const char *path, uint64_t samples)
{
    struct maker *maker = calloc(1, sizeof(*maker));
    double spent = 0;

    must(maker, "calloc");
    open_maker(maker, path);
    for (uint64_t done = 0; done < samples; done += PIECE_SAMPLES) {
        double before;

        add_samples(maker, PIECE_SAMPLES);
        before = cpu_seconds();
        take(maker);
        write_blocks(maker);
        spent += cpu_seconds() - before;
    }
    must(session_writer_end(maker->writer, maker->time_us, &maker->blocks) == 0, "ending");
    write_blocks(maker);
    printf("bytes_per_sample %.3f\nwriting_ns_per_sample %.1f\n",
           (double)maker->file.bytes / (double)samples, spent * 1e9 / (double)samples);
    return 0;
}

static double resident_mib(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    if (!file || fscanf(file, "%*u %lu", &pages) != 1)
        return 0;
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static void take_window(struct profile *profile, const char *name, int64_t from_us,
                        int64_t extent_us)
{
    const struct snapshot_window window = { .bounded = true,
                                            .origin_us = from_us,
                                            .extent_us = extent_us };
    double before = seconds();
    struct snapshot *snapshot;

    must(snapshot_take(&snapshot, profile, &window) == 0, "snapshot_take");
    printf("%s_seconds %.4f\n%s_samples %" PRIu32 "\n%s_mib %.1f\n", name, seconds() - before, name,
           snapshot_sample_count(snapshot), name, resident_mib());
    snapshot_free(snapshot);
}

static int open_file(const char *path)
{
    static const struct saved_options options;
    struct saved_session session;
    struct saved_problem problem;
    struct profile *profile;
    double before_mib = resident_mib(), before = seconds();
    int64_t middle_us;

    if (profile_open_saved(&profile, &options, &path, 1, &problem) < 0) {
        fprintf(stderr, "sessions_bench: at %" PRIu64 ": %s\n", problem.position, problem.reason);
        return 1;
    }
    printf("open_seconds %.4f\nopen_mib %.1f\n", seconds() - before, resident_mib() - before_mib);
    saved_sessions(profile, &session, 1);
    printf("samples %" PRIu64 "\nbytes %" PRIu64 "\n", session.samples, session.bytes);
    middle_us = (session.start_us + session.end_us) / 2;
    take_window(profile, "window", middle_us, WINDOW_US);
    take_window(profile, "again", middle_us, WINDOW_US);
    take_window(profile, "all", 0, INT64_MAX);
    printf("after_mib %.1f\n", resident_mib());
    profile_free(profile);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "make"))
        return make(argv[2], strtoull(argv[3], NULL, 10));
    if (argc == 3 && !strcmp(argv[1], "open"))
        return open_file(argv[2]);
    fprintf(stderr, "sessions_bench make FILE SAMPLES | open FILE\n");
    return 2;
}
