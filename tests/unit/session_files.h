/*
 * session_files.h - session files for tests: saved, opened, and told in words.
 */
#ifndef SESSION_FILES_H
#define SESSION_FILES_H

#include "sampler/include/isoscope/isoscope.h"
#include "sampler/profile/facts.h"
#include "sampler/profile/profile.h"
#include "sampler/profile/recorder.h"
#include "sampler/profile/saved.h"
#include "sampler/profile/timeline.h"
#include "stall_words.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct file_bytes {
    uint8_t *data;
    size_t count;
};

/* All that the profile has, as bytes. */
static inline struct file_bytes save_bytes(struct profile *profile,
                                           const struct session_options *options)
{
    struct file_bytes file = { 0 };
    struct save *save;
    const void *bytes;
    size_t count;
    int result;

    if (save_begin(&save, profile, options, false) < 0)
        abort();
    while ((result = save_step(save, &bytes, &count)) == 1) {
        if (!count)
            continue;
        file.data = realloc(file.data, file.count + count);
        if (!file.data)
            abort();
        memcpy(file.data + file.count, bytes, count);
        file.count += count;
    }
    if (result)
        abort();
    save_free(save);
    return file;
}

static inline void write_bytes(const char *path, const void *data, size_t count)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (fd < 0 || write(fd, data, count) != (ssize_t)count || close(fd) < 0)
        abort();
}

/* NULL: it does not open; problem says why. */
static inline struct profile *open_saved(const char *path, struct saved_problem *problem)
{
    struct profile *profile = NULL;

    profile_open_saved(&profile, &(struct saved_options){ 0 }, &path, 1, problem);
    return profile;
}

static inline void tell_samples(struct profile *profile, enum sample_kind kind, FILE *out)
{
    struct snapshot_window window = { .kind = kind };
    struct snapshot *snapshot;
    struct snapshot_sample sample;
    uint32_t cursor = 0, count;
    int error = snapshot_take(&snapshot, profile, &window);

    if (error) {
        fprintf(out, "samples of kind %d: error %d\n", kind, error);
        return;
    }
    const struct snapshot_function *functions = snapshot_functions(snapshot, &count);
    for (uint32_t i = 0; i < count; i++)
        fprintf(
            out,
            "function %s %s %s %s %s:%u kind %d +%" PRIx64 " %" PRIu64 " %" PRIu64 "/%" PRIu64 "\n",
            functions[i].id, functions[i].name, functions[i].full_name, functions[i].raw_name,
            functions[i].file ? functions[i].file : "?", functions[i].line, functions[i].kind,
            functions[i].offset, functions[i].size, functions[i].exclusive, functions[i].inclusive);
    const struct snapshot_library *libraries = snapshot_libraries(snapshot, &count);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "library %s %s%s %s %s %" PRIx64 " code %" PRIx64 "+%" PRIx64 " %s %s\n",
                libraries[i].id, libraries[i].path, libraries[i].system ? " (system)" : "",
                libraries[i].runtime ? libraries[i].runtime : "-", libraries[i].build_id,
                libraries[i].load_bias, libraries[i].code_offset, libraries[i].code_bytes,
                libraries[i].reason ? libraries[i].reason : "named",
                libraries[i].lines_reason ? libraries[i].lines_reason : "lines");
    const struct snapshot_frame *frames = snapshot_frames(snapshot, &count);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "frame %u line %u%s %s +%" PRIx64 "\n", frames[i].function, frames[i].line,
                frames[i].inlined ? " inlined" : "", frames[i].file ? frames[i].file : "",
                frames[i].offset);
    while (snapshot_next(snapshot, &cursor, &sample)) {
        fprintf(out,
                "sample %" PRIu64 " %d %s %s at %" PRId64 " kind %d weight %" PRIu64
                " objects %g wait %d by %d end %d state %d:",
                sample.process_id, sample.tid, sample.thread_name, sample.tag ? sample.tag : "-",
                sample.timestamp_us, kind, sample.weight, sample.objects, sample.wait.what,
                sample.wait.holder, sample.end, sample.state);
        for (uint32_t i = 0; i < sample.depth; i++)
            fprintf(out, " %u", sample.frames[i]);
        fprintf(out, "\n");
    }
    snapshot_free(snapshot);
}

static inline void tell_argument(const struct timeline_argument *argument, FILE *out)
{
    if (argument->type == FEED_ARGUMENT_TEXT)
        fprintf(out, " %s='%s'", argument->name, argument->text);
    else
        fprintf(out, " %s=%d:%" PRIx64, argument->name, argument->type, argument->count);
}

/* How long what stands open does so depends on when it is asked. */
static inline void tell_events(struct profile *profile, FILE *out)
{
    struct timeline_window window = { .open = true };
    struct timeline_history history;
    struct timeline *timeline;
    struct timeline_event event;
    uint64_t cursor = 0;
    int error = timeline_take(&timeline, profile, &window);

    if (error) {
        fprintf(out, "events: error %d\n", error);
        return;
    }
    while (timeline_next(timeline, &cursor, &event)) {
        fprintf(out,
                "event %d %d%s %" PRId64 "+%" PRIu64 " id %" PRIx64 " of %" PRIu64
                " %d %s: %s %s depth %u",
                event.kind, event.mark, event.complete ? " complete" : "", event.start_ns,
                event.mark == TIMELINE_OPEN ? 0 : event.duration_ns, event.id, event.process_id,
                event.tid, event.thread_name, event.stream, event.name, event.depth);
        for (uint32_t i = 0; i < event.argument_count; i++)
            tell_argument(&event.arguments[i], out);
        fprintf(out, "\n");
    }
    history = profile_timeline_history(profile);
    fprintf(out,
            "events evicted %" PRIu64 " unmatched %" PRIu64 " cut off %" PRIu64 " lost %" PRIu64
            "\n",
            history.evicted, history.unmatched, history.cut_off, history.lost);
    if (timeline_damaged(timeline))
        fprintf(out, "events are damaged\n");
    timeline_free(timeline);
}

static inline void tell_tag(void *out, const char *tag)
{
    fprintf(out, "tag %s\n", tag);
}

static inline void tell_process(struct profile *profile, const struct process_info *info, FILE *out)
{
    struct profile_thread threads[64];
    struct profile_script scripts[64];
    uint64_t states[FEED_STATE_COUNT + 1];
    size_t count = profile_threads(profile, info->id, threads, 64);

    fprintf(out,
            "process %" PRIu64 " %d<%d %s %s from %" PRId64 " samples %" PRIu64 " corrupt %" PRIu64
            " runtimes %x ticks %" PRIu64 " cpu %" PRIu64 "\n",
            info->id, info->pid, info->ppid, info->name, info->exe, info->start_us, info->samples,
            info->corrupt, info->runtimes, info->status.ticks, info->status.cpu_ns);
    for (size_t i = 0; i < count; i++)
        fprintf(out, " thread %d %s %" PRIu64 "\n", threads[i].tid, threads[i].name,
                threads[i].samples);
    profile_states(profile, info->id, 0, states);
    for (int i = 0; i <= FEED_STATE_COUNT; i++)
        fprintf(out, " state %d %" PRIu64 "\n", i, states[i]);
    count = profile_scripts(profile, info->id, scripts, 64);
    for (size_t i = 0; i < count; i++)
        fprintf(out, " script %s %u %s\n", scripts[i].file ? scripts[i].file : "-",
                scripts[i].file_number, scripts[i].library.id);
}

/* In words, all that is read of a profile; from malloc. */
static inline char *tell(struct profile *profile)
{
    struct process_info infos[16];
    struct feed_settings settings = profile_settings(profile);
    size_t bytes, count;
    char *text;
    FILE *out = open_memstream(&text, &bytes);

    fprintf(out, "settings %u us depth %u mode %d threads %s\n", settings.period_us,
            settings.depth_max, settings.mode, settings.wall_threads);
    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        tell_samples(profile, (enum sample_kind)kind, out);
    tell_events(profile, out);
    tell_stalls(profile, out);
    tell_loops(profile, out);
    count = profile_processes(profile, infos, 16);
    for (size_t i = 0; i < count && i < 16; i++)
        tell_process(profile, &infos[i], out);
    profile_user_tags(profile, tell_tag, out);
    fprintf(out, "from %" PRId64 " to %" PRId64 "\n", profile_history(profile).first_us,
            profile_history(profile).last_us);
    fclose(out);
    return text;
}

#endif
