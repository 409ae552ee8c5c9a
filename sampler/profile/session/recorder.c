#include "../recorder.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/thread.h"
#include "../control.h"
#include "../parts.h"
#include "error_text.h"
#include "record_file.h"
#include "record_names.h"
#include "session_options.h"
#include "session_writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* At most a second is missing, also where a busy machine wakes the thread late. */
enum { EVERY_US = 750000, WAIT_US = 50000, ROTATE_WAIT_US = 1000000 };

struct recorder {
    struct profile *profile;
    struct recorder_options options; /* copied */
    pthread_t thread;

    pthread_mutex_t lock; /* guards the rest, but for what is the thread's */
    pthread_cond_t wake;
    bool stopping, finishing;
    int64_t finish_us; /* finishing: names are waited for until then */
    struct session_writer *writer;
    struct bytes taken; /* blocks that are not written yet */
    struct recorder_status status;

    struct bytes writing; /* the thread's, as all below */
    struct record_file file;
    struct record_names names;
    int64_t file_us;
    bool told; /* of the problem */
};

static int64_t now_us(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* With the lock: all samples, events and stalls that there are. */
static void take_samples(struct recorder *recorder)
{
    int result;

    do
        result = session_writer_samples(recorder->writer, &recorder->taken);
    while (result > 0);
    do
        result = session_writer_events(recorder->writer, &recorder->taken);
    while (result > 0);
    do
        result = session_writer_stalls(recorder->writer, &recorder->taken);
    while (result > 0);
}

/* With the lock. Returns for how many frames the names are not known. */
static uint32_t take_all(struct recorder *recorder)
{
    uint32_t waits = 0;

    take_samples(recorder);
    session_writer_tables(recorder->writer, now_us(CLOCK_MONOTONIC), &recorder->taken);
    session_writer_names(recorder->writer, &recorder->taken, &waits);
    return waits;
}

/* What is there at the end of a file. */
static void take_live(struct recorder *recorder)
{
    profile_sync(recorder->profile);
    pthread_mutex_lock(&recorder->lock);
    session_writer_live(recorder->writer, &recorder->taken);
    pthread_mutex_unlock(&recorder->lock);
}

static uint32_t drain_and_take(struct recorder *recorder)
{
    uint32_t waits;

    profile_sync(recorder->profile);
    pthread_mutex_lock(&recorder->lock);
    waits = take_all(recorder);
    pthread_mutex_unlock(&recorder->lock);
    return waits;
}

/* What was sampled before a profile is cleared is recorded. */
static void take_before_clear(void *context)
{
    struct recorder *recorder = context;

    pthread_mutex_lock(&recorder->lock);
    if (recorder->status.recording)
        take_samples(recorder);
    pthread_mutex_unlock(&recorder->lock);
}

static void stop_recording(struct recorder *recorder, int problem)
{
    char text[PATH_MAX + 256];

    pthread_mutex_lock(&recorder->lock);
    recorder->status.recording = false;
    pthread_mutex_unlock(&recorder->lock);
    if (recorder->told)
        return;
    recorder->told = true;
    snprintf(text, sizeof(text),
             "recording has stopped: %s: %s; what was recorded until then is there (%llu bytes)",
             recorder->file.path, record_file_reason(problem),
             (unsigned long long)recorder->file.bytes);
    if (recorder->options.problem)
        recorder->options.problem(recorder->options.session.context, text);
}

/* What has been taken, out of the lock. */
static void move_taken(struct recorder *recorder)
{
    struct bytes empty = recorder->writing;

    pthread_mutex_lock(&recorder->lock);
    bytes_clear(&empty);
    recorder->writing = recorder->taken;
    recorder->taken = empty;
    pthread_mutex_unlock(&recorder->lock);
}

static bool is_recording(struct recorder *recorder)
{
    bool recording;

    pthread_mutex_lock(&recorder->lock);
    recording = recorder->status.recording;
    pthread_mutex_unlock(&recorder->lock);
    return recording;
}

/* One write, in the order in which it was taken. */
static void write_taken(struct recorder *recorder)
{
    int problem;

    move_taken(recorder);
    if (!is_recording(recorder) || !recorder->writing.count)
        return;
    problem = record_file_append(&recorder->file, &recorder->writing);
    if (problem)
        stop_recording(recorder, problem);
    pthread_mutex_lock(&recorder->lock);
    recorder->status.bytes += problem ? 0 : recorder->writing.count;
    recorder->status.samples = session_writer_count(recorder->writer);
    recorder->status.events = session_writer_event_count(recorder->writer);
    recorder->status.missed = session_writer_missed(recorder->writer);
    recorder->status.write_ns = (uint64_t)now_us(CLOCK_THREAD_CPUTIME_ID) * 1000;
    pthread_mutex_unlock(&recorder->lock);
}

/* Returns an errno. */
static int begin_file(struct recorder *recorder)
{
    int64_t start_us = now_us(CLOCK_MONOTONIC);
    char path[PATH_MAX];
    int problem;

    snprintf(path, sizeof(path), "%s", recorder->options.path);
    if (recorder->options.rotate_seconds)
        record_names_next(recorder->options.path, now_us(CLOCK_REALTIME), path, sizeof(path));
    pthread_mutex_lock(&recorder->lock);
    problem = session_writer_begin(recorder->writer, start_us, &recorder->taken) < 0 ? ENOMEM : 0;
    pthread_mutex_unlock(&recorder->lock);
    move_taken(recorder);
    if (!problem)
        problem = record_file_create(&recorder->file, path, &recorder->writing);
    if (problem)
        return problem;
    recorder->file_us = start_us;
    record_names_add(&recorder->names, path, recorder->options.keep);
    pthread_mutex_lock(&recorder->lock);
    snprintf(recorder->status.path, sizeof(recorder->status.path), "%s", path);
    recorder->status.bytes += recorder->writing.count;
    pthread_mutex_unlock(&recorder->lock);
    return 0;
}

/* With the lock. False: it is time to stop at once. */
static bool sleep_until(struct recorder *recorder, int64_t until_us)
{
    const struct timespec until = { until_us / 1000000, until_us % 1000000 * 1000 };
    bool finishing = recorder->finishing;

    while (!recorder->stopping && recorder->finishing == finishing &&
           pthread_cond_timedwait(&recorder->wake, &recorder->lock, &until) != ETIMEDOUT)
        continue;
    return !recorder->stopping;
}

static bool rest(struct recorder *recorder, int64_t us)
{
    bool going;

    pthread_mutex_lock(&recorder->lock);
    going = sleep_until(recorder, now_us(CLOCK_MONOTONIC) + us);
    pthread_mutex_unlock(&recorder->lock);
    return going;
}

/* All that is known by now; names are waited for until then. */
static void end_file(struct recorder *recorder, int64_t until_us)
{
    uint32_t waits;

    take_live(recorder);
    waits = drain_and_take(recorder);
    write_taken(recorder);
    while (waits && is_recording(recorder) && now_us(CLOCK_MONOTONIC) < until_us &&
           rest(recorder, WAIT_US)) {
        waits = drain_and_take(recorder);
        write_taken(recorder);
    }
    pthread_mutex_lock(&recorder->lock);
    session_writer_end(recorder->writer, now_us(CLOCK_MONOTONIC), &recorder->taken);
    pthread_mutex_unlock(&recorder->lock);
    write_taken(recorder);
    record_file_close(&recorder->file);
}

static void rotate(struct recorder *recorder)
{
    int problem;

    end_file(recorder, now_us(CLOCK_MONOTONIC) + ROTATE_WAIT_US);
    problem = is_recording(recorder) ? begin_file(recorder) : 0;
    if (problem)
        stop_recording(recorder, problem);
}

static bool is_due(const struct recorder *recorder, int64_t at_us)
{
    return recorder->options.rotate_seconds &&
           at_us - recorder->file_us >= (int64_t)recorder->options.rotate_seconds * 1000000;
}

/* Until it is to end, or has a problem. */
static void record(struct recorder *recorder)
{
    bool going = true;

    while (going && is_recording(recorder)) {
        pthread_mutex_lock(&recorder->lock);
        going = !recorder->finishing && sleep_until(recorder, now_us(CLOCK_MONOTONIC) + EVERY_US) &&
                !recorder->finishing;
        pthread_mutex_unlock(&recorder->lock);
        if (!going)
            return;
        drain_and_take(recorder);
        write_taken(recorder);
        if (is_due(recorder, now_us(CLOCK_MONOTONIC)) && is_recording(recorder))
            rotate(recorder);
    }
}

static void *run(void *argument)
{
    struct recorder *recorder = argument;
    bool finishing;
    int64_t until_us;

    pthread_setname_np(pthread_self(), "iso-recorder");
    record(recorder);
    pthread_mutex_lock(&recorder->lock);
    finishing = recorder->finishing;
    until_us = finishing ? recorder->finish_us : 0;
    pthread_mutex_unlock(&recorder->lock);
    if (is_recording(recorder))
        end_file(recorder, until_us);
    pthread_mutex_lock(&recorder->lock);
    recorder->status.recording = false;
    while (!recorder->stopping && !recorder->finishing) /* it had a problem */
        pthread_cond_wait(&recorder->wake, &recorder->lock);
    finishing = recorder->finishing && !recorder->stopping;
    pthread_mutex_unlock(&recorder->lock);
    if (finishing && recorder->options.finished)
        recorder->options.finished(recorder->options.session.context);
    return NULL;
}

static void forget(struct recorder *recorder)
{
    session_writer_free(recorder->writer);
    session_options_free(&recorder->options.session);
    free((char *)recorder->options.path);
    bytes_free(&recorder->taken);
    bytes_free(&recorder->writing);
    record_file_close(&recorder->file);
    record_names_free(&recorder->names);
    pthread_cond_destroy(&recorder->wake);
    pthread_mutex_destroy(&recorder->lock);
    free(recorder);
}

static int make(struct recorder **out, struct profile *profile,
                const struct recorder_options *options)
{
    struct recorder *recorder = calloc(1, sizeof(*recorder));
    pthread_condattr_t monotonic;

    if (!recorder)
        return -ISOSCOPE_NO_MEMORY;
    recorder->profile = profile;
    recorder->options = *options;
    recorder->options.path = strdup(options->path);
    recorder->status.recording = true;
    pthread_mutex_init(&recorder->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&recorder->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (!session_options_copy(&recorder->options.session, &options->session) ||
        !recorder->options.path ||
        session_writer_new(&recorder->writer, profile, &recorder->options.session, true) < 0) {
        forget(recorder);
        return -ISOSCOPE_NO_MEMORY;
    }
    *out = recorder;
    return 0;
}

int recorder_start(struct recorder **out, struct profile *profile,
                   const struct recorder_options *options, char *problem, size_t problem_bytes)
{
    struct recorder *recorder;
    int error = make(&recorder, profile, options), number;

    if (error) {
        snprintf(problem, problem_bytes, "%s", error_text(error));
        return error;
    }
    number = begin_file(recorder);
    error = number ? -ISOSCOPE_SYSTEM : thread_start(&recorder->thread, run, recorder);
    if (error) {
        snprintf(problem, problem_bytes, "%s: %s", options->path,
                 number == EEXIST ? "it is there, and no file"
                 : number         ? record_file_reason(number)
                                  : error_text(error));
        forget(recorder);
        return error;
    }
    profile->before_clear = take_before_clear;
    profile->before_clear_context = recorder;
    *out = recorder;
    return 0;
}

void recorder_finish(struct recorder *recorder, uint32_t wait_ms)
{
    pthread_mutex_lock(&recorder->lock);
    if (!recorder->finishing)
        recorder->finish_us = now_us(CLOCK_MONOTONIC) + (int64_t)wait_ms * 1000;
    recorder->finishing = true;
    pthread_cond_signal(&recorder->wake);
    pthread_mutex_unlock(&recorder->lock);
}

void recorder_free(struct recorder *recorder)
{
    if (!recorder)
        return;
    recorder->profile->before_clear = NULL;
    pthread_mutex_lock(&recorder->lock);
    recorder->stopping = true;
    pthread_cond_signal(&recorder->wake);
    pthread_mutex_unlock(&recorder->lock);
    pthread_join(recorder->thread, NULL);
    forget(recorder);
}

void recorder_status(struct recorder *recorder, struct recorder_status *out)
{
    pthread_mutex_lock(&recorder->lock);
    *out = recorder->status;
    pthread_mutex_unlock(&recorder->lock);
}
