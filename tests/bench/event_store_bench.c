/*
 * event_store_bench.c - ten million events in the service: what one costs to add and to keep, how long a
 * window of a second takes, and what a session file has of one.
 *
 *     event_store_bench EVENTS SECONDS FILE    each figure on a line, as event_store.py reads them
 *
 * Four threads, each a loop of frames: a slice with slices in it, two deep, one of ten with two
 * arguments, and a counter. Two stores take the same batches in turn: one against the other is the noise.
 */
#include "sampler/include/isoscope/isoscope.h"
#include "sampler/profile/events/event_store.h"
#include "sampler/profile/intake/processes.h"
#include "sampler/profile/parts.h"
#include "sampler/profile/profile.h"
#include "sampler/profile/recorder.h"
#include "sampler/profile/saved.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, BATCH = 8192, WINDOWS = 200, NAMES = 40, INNER = 6 };

struct maker {
    struct profile *profile;
    struct track *tracks[THREADS];
    struct event_word names[NAMES], stream;
    uint64_t count, frames, random;
};

static void must(bool done, const char *what)
{
    if (done)
        return;
    fprintf(stderr, "event_store_bench: %s failed\n", what);
    exit(1);
}

static double now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

static double median(double *list, size_t count)
{
    qsort(list, count, sizeof(*list), by_size);
    return list[count / 2];
}

static void maker_open(struct maker *maker, const char (*words)[16])
{
    const struct profile_options options = { .store_bytes = (size_t)1 << 30, .no_symbols = true };
    const struct process_saved process = {
        .info = { .id = 77, .pid = 77, .exe = "/bin/program", .start_us = 1 }
    };
    struct owner *owner;

    maker->random = 88172645463325252;
    must(profile_new(&maker->profile, &options) == 0, "a profile");
    must(processes_restore(maker->profile->processes, &process, &owner) == 0, "a process");
    owner = processes_event_owner(maker->profile->processes, 77);
    for (int i = 0; i < THREADS; i++)
        must(event_store_track(maker->profile->events, owner, 100 + i, "worker",
                               &maker->tracks[i]) == 0,
             "a thread");
    for (uint64_t i = 0; i < NAMES; i++)
        maker->names[i] = (struct event_word){ words[i], (uint32_t)strlen(words[i]), 1000 + i };
    maker->stream = (struct event_word){ "Dart", 4, 1 };
}

static struct event slice(const struct maker *maker, uint64_t name, int64_t at_ns)
{
    return (struct event){ .start_ns = at_ns,
                           .name = maker->names[name % NAMES],
                           .stream = maker->stream };
}

/* Times that no packer can guess. */
static int64_t draw(struct maker *maker, int64_t below)
{
    maker->random ^= maker->random << 13;
    maker->random ^= maker->random >> 7;
    maker->random ^= maker->random << 17;
    return (int64_t)(maker->random >> 11) % (below + 1);
}

/* A frame of a thread: INNER + 2 events. */
static void add_frame(struct maker *maker, int64_t at_ns, int64_t length_ns)
{
    struct event_store *store = maker->profile->events;
    struct track *track = maker->tracks[maker->frames % THREADS];
    const struct event_argument arguments[2] = {
        { .name = maker->names[1], .type = FEED_ARGUMENT_UINT, .word = maker->frames },
        { .name = maker->names[2], .type = FEED_ARGUMENT_INT, .word = 5 },
    };
    struct event event = slice(maker, 0, at_ns);
    int64_t step_ns = length_ns / (INNER + 1);

    event_store_begin(store, track, &event);
    for (int i = 0; i < INNER; i++) {
        event = slice(maker, (uint64_t)(i + draw(maker, 5) * draw(maker, 5)),
                      at_ns + i * step_ns + draw(maker, step_ns / 3));
        event.arguments = arguments;
        event.argument_count = maker->frames % 10 == 0 ? 2 : 0;
        event_store_begin(store, track, &event);
        event = slice(maker, 0, at_ns + (i + 1) * step_ns - draw(maker, step_ns / 3));
        event_store_end(store, track, &event);
    }
    event = slice(maker, 3, at_ns + length_ns - 2);
    event.kind = TIMELINE_COUNTER;
    event.arguments = arguments;
    event.argument_count = 1;
    event_store_put(store, track, &event);
    event = slice(maker, 0, at_ns + length_ns - 1);
    event_store_end(store, track, &event);
    maker->frames++;
    maker->count += INNER + 2;
}

/* Nanoseconds of CPU time for an event. */
static double add_batch(struct maker *maker, double ns_per_frame)
{
    double before = now_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t first = maker->count;

    while (maker->count - first < BATCH)
        add_frame(maker, 1000000000 + (int64_t)((double)maker->frames * ns_per_frame),
                  (int64_t)(ns_per_frame * THREADS));
    return (now_ns(CLOCK_THREAD_CPUTIME_ID) - before) / (double)(maker->count - first);
}

static size_t resident(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    if (file) {
        must(fscanf(file, "%*u %lu", &pages) == 1, "reading statm");
        fclose(file);
    }
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static uint64_t read_window(struct profile *profile, int64_t origin_us, int64_t extent_us)
{
    const struct timeline_window window = { .bounded = true,
                                            .origin_us = origin_us,
                                            .extent_us = extent_us };
    struct timeline *timeline;
    struct timeline_event event;
    uint64_t cursor = 0, count = 0;

    must(timeline_take(&timeline, profile, &window) == 0, "a window");
    while (timeline_next(timeline, &cursor, &event))
        count++;
    timeline_free(timeline);
    return count;
}

static void time_windows(struct profile *profile, double seconds, int64_t extent_us,
                         const char *name)
{
    double times[WINDOWS];
    uint64_t events = 0;

    for (int i = 0; i < WINDOWS; i++) {
        int64_t origin_us = 1000000 + (int64_t)(seconds * 1e6 * (i * 37 % WINDOWS) / WINDOWS);
        double before = now_ns(CLOCK_THREAD_CPUTIME_ID);

        events += read_window(profile, origin_us, extent_us);
        times[i] = (now_ns(CLOCK_THREAD_CPUTIME_ID) - before) / 1e6;
    }
    printf("%s_ms %.3f\n", name, median(times, WINDOWS));
    printf("%s_worst_ms %.3f\n", name, times[WINDOWS - 1]);
    printf("%s_events %" PRIu64 "\n", name, events / WINDOWS);
}

static void fill(struct maker *maker, struct maker *other, uint64_t events, double seconds)
{
    size_t batches = events / BATCH, before = resident();
    double *ours = calloc(batches + 1, sizeof(*ours)), *theirs = calloc(batches + 1, sizeof(*ours));
    double ns_per_frame = seconds * 1e9 / ((double)events / (INNER + 2));
    struct timeline_history history;

    must(ours && theirs, "memory");
    for (size_t i = 0; i < batches; i++) {
        ours[i] = add_batch(maker, ns_per_frame);
        theirs[i] = add_batch(other, ns_per_frame);
    }
    history = profile_timeline_history(maker->profile);
    printf("events %" PRIu64 "\n", history.events);
    printf("bytes_per_event %.2f\n", (double)history.bytes / (double)history.events);
    printf("resident_per_event %.2f\n", (double)(resident() - before) / 2 / (double)history.events);
    printf("add_ns %.1f\n", median(ours, batches));
    printf("base_to_base %.3f\n", median(ours, batches) / median(theirs, batches));
    free(ours);
    free(theirs);
}

static void save_to(struct profile *profile, const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), result;
    double before = now_ns(CLOCK_THREAD_CPUTIME_ID);
    const struct session_options options = { 0 };
    uint64_t written = 0, events = profile_timeline_history(profile).events;
    struct save *save = NULL;
    const void *bytes;
    size_t count;

    must(fd >= 0 && save_begin(&save, profile, &options, true) == 0, "a save");
    while ((result = save_step(save, &bytes, &count)) == 1) {
        must(write(fd, bytes, count) == (ssize_t)count, "writing");
        written += count;
    }
    must(result == 0 && close(fd) == 0, "a save");
    save_free(save);
    printf("file_bytes_per_event %.2f\n", (double)written / (double)events);
    printf("write_ns %.1f\n", (now_ns(CLOCK_THREAD_CPUTIME_ID) - before) / (double)events);
}

static void look_at(const char *path, double seconds)
{
    double before = now_ns(CLOCK_THREAD_CPUTIME_ID);
    struct saved_options options = { .store_bytes = (size_t)1 << 30 };
    struct saved_problem problem;
    struct profile *saved;

    must(profile_open_saved(&saved, &options, &path, 1, &problem) == 0, "opening");
    printf("open_ms %.1f\n", (now_ns(CLOCK_THREAD_CPUTIME_ID) - before) / 1e6);
    time_windows(saved, seconds, 1000000, "saved_second");
    profile_free(saved);
}

int main(int count, char **words)
{
    struct maker maker = { 0 }, other = { 0 };
    static char names[NAMES][16];
    double seconds;

    must(count == 4, "EVENTS SECONDS FILE");
    seconds = atof(words[2]);
    for (int i = 0; i < NAMES; i++)
        snprintf(names[i], sizeof(names[i]), "slice %d", i);
    maker_open(&maker, names);
    maker_open(&other, names);
    fill(&maker, &other, strtoull(words[1], NULL, 10), seconds);
    profile_free(other.profile);
    time_windows(maker.profile, seconds, 1000000, "second");
    time_windows(maker.profile, seconds, 1000, "millisecond");
    save_to(maker.profile, words[3]);
    profile_free(maker.profile);
    look_at(words[3], seconds);
    return 0;
}
