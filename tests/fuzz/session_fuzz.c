/* The bytes are a session file or, where they do not begin as one, what its blocks hold: a type, two
 * bytes of length, content, again and again. Those are packed first, so that what is changed is
 * what a reader makes something of, and not checksums. */
#include "sampler/include/isoscope/isoscope.h"
#include "sampler/profile/facts.h"
#include "sampler/profile/follow.h"
#include "sampler/profile/profile.h"
#include "sampler/profile/recorder.h"
#include "sampler/profile/saved.h"
#include "sampler/profile/session/format/blocks.h"
#include "sampler/profile/stalls.h"
#include "sampler/profile/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

enum { RECIPE_HEAD = 6, PROCESSES = 8, NAMES = 16 };

static enum block_frame frame_of(const char *type)
{
    static const char tables[][5] = { "HEAD", "SETT", "PROC", "MODS", "THRD", "NAME",
                                      "FUNC", "CHNS", "PIEC", "FACT", "STAT", "ENDS" };

    if (!strcmp(type, "SMPL"))
        return BLOCK_FRAME_CHUNK;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        if (!strcmp(type, tables[i]))
            return BLOCK_FRAME_TABLES;
    return BLOCK_FRAME_OWN;
}

static bool says_begins(const uint8_t *content, size_t count)
{
    static const char word[] = "\"begins\":true";

    return memmem(content, count, word, strlen(word));
}

static void pack_blocks(const uint8_t *bytes, size_t count, struct bytes *out)
{
    struct packer *packer;

    if (packer_new(&packer) < 0)
        abort();
    session_head_put(out);
    while (count >= RECIPE_HEAD) {
        char type[5] = { 0 };
        size_t size = bytes[4] | (size_t)bytes[5] << 8;
        struct bytes content;

        memcpy(type, bytes, 4);
        bytes += RECIPE_HEAD;
        count -= RECIPE_HEAD;
        size = size < count ? size : count;
        content = (struct bytes){ (uint8_t *)bytes, size, size, false };
        if (!strcmp(type, "PIEC") && says_begins(bytes, size))
            packer_restart(packer, BLOCK_FRAME_CHUNK);
        packer_block(packer, out, type, frame_of(type), &content);
        bytes += size;
        count -= size;
    }
    packer_free(packer);
}

static void mapping(void *context, const char *path, uint64_t rss_bytes)
{
    *(size_t *)context += strlen(path) + (rss_bytes > 0);
}

static void tag(void *context, const char *user_tag)
{
    *(size_t *)context += strlen(user_tag);
}

static size_t look_at_snapshot(struct profile *profile)
{
    struct snapshot_window window = { 0 };
    struct snapshot *snapshot;
    struct snapshot_sample sample;
    uint32_t cursor = 0;
    size_t sum = 0;

    if (snapshot_take(&snapshot, profile, &window) < 0)
        return 0;
    while (snapshot_next(snapshot, &cursor, &sample))
        sum += sample.depth + strlen(sample.thread_name);
    snapshot_free(snapshot);
    return sum;
}

static void look_at_follow(struct profile *profile)
{
    struct follow_window window = { .count_max = 7 };
    struct follow *follow;
    bool more = true;

    for (int turn = 0; turn < 50 && more; turn++) {
        if (follow_take(&follow, profile, &window) < 0)
            return;
        window.cursor = follow_cursor(follow);
        more = follow_more(follow);
        follow_free(follow);
    }
}

static size_t look_at_timeline(struct profile *profile)
{
    struct timeline_window window = { .bounded = true, .extent_us = INT64_MAX / 2 };
    struct timeline *timeline;
    struct timeline_event event;
    uint64_t cursor = 0;
    size_t sum = 0;

    if (timeline_take(&timeline, profile, &window) < 0)
        return 0;
    while (timeline_next(timeline, &cursor, &event)) {
        sum += strlen(event.name) + strlen(event.stream) + strlen(event.thread_name);
        for (uint32_t i = 0; i < event.argument_count; i++)
            sum += strlen(event.arguments[i].name);
    }
    timeline_free(timeline);
    return sum;
}

static size_t look_at_stall(const struct stall *stall)
{
    size_t sum = strlen(stall->name) + strlen(stall->thread_name) + strlen(stall->evidence.path) +
                 strlen(stall->culprit.function) + strlen(stall->caller.library) +
                 (stall->tag ? strlen(stall->tag) : 0);

    for (uint32_t i = 0; i < stall->prefix_count; i++)
        sum += strlen(stall->prefix[i]);
    for (uint32_t i = 0; i < stall->run_count; i++)
        sum += strlen(stall->runs[i].function);
    for (uint32_t i = 0; i < stall->stack_count; i++)
        for (uint32_t frame = 0; frame < stall->stacks[i].depth; frame++)
            sum += strlen(stall->stacks[i].functions[frame]);
    return sum;
}

static size_t look_at_stalls(struct profile *profile)
{
    struct loop_info loops[NAMES];
    size_t count = profile_loops(profile, 0, loops, NAMES), sum = 0;
    struct stalls *stalls;

    for (size_t i = 0; i < count && i < NAMES; i++)
        sum += strlen(loops[i].name) + strlen(loops[i].thread_name);
    if (stalls_take(&stalls, profile, &(struct stalls_window){ 0 }) < 0)
        return sum;
    for (size_t i = 0; i < stalls_count(stalls); i++)
        sum += look_at_stall(stalls_at(stalls, i));
    stalls_free(stalls);
    return sum;
}

static void look_at_processes(struct profile *profile)
{
    struct process_info infos[PROCESSES];
    struct profile_thread threads[NAMES];
    struct profile_script scripts[NAMES];
    uint64_t states[FEED_STATE_COUNT + 1];
    size_t count = profile_processes(profile, infos, PROCESSES), sum = 0;

    for (size_t i = 0; i < count && i < PROCESSES; i++) {
        profile_threads(profile, infos[i].id, threads, NAMES);
        profile_scripts(profile, infos[i].id, scripts, NAMES);
        profile_states(profile, infos[i].id, 0, states);
        profile_memory(profile, infos[i].id);
        profile_mappings(profile, infos[i].id, mapping, &sum);
    }
    profile_user_tags(profile, tag, &sum);
}

/* What was read is written, and that is a session, too. */
static void save_again(struct profile *profile)
{
    struct session_options options = { 0 };
    struct save *save;
    const void *bytes;
    size_t count;

    if (save_begin(&save, profile, &options, true) < 0)
        abort();
    while (save_step(save, &bytes, &count) == 1)
        continue;
    save_free(save);
}

static void look(struct profile *profile)
{
    struct profile_function function;
    struct snapshot_library library;
    struct saved_problem problem;
    struct saved_session session;

    look_at_snapshot(profile);
    look_at_follow(profile);
    look_at_timeline(profile);
    look_at_stalls(profile);
    look_at_processes(profile);
    profile_function(profile, "functions/1/1000", &function);
    profile_library(profile, "libraries/1", &library);
    saved_damage(profile, &problem);
    saved_sessions(profile, &session, 1);
    save_again(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct saved_options options = { .store_bytes = 1 };
    struct saved_problem problem;
    struct bytes packed = { 0 };
    struct profile *profile;
    char path[32];
    const char *file = path;
    int fd = memfd_create("session", MFD_CLOEXEC);

    if (count && *bytes == 0x89)
        bytes_put(&packed, bytes, count);
    else
        pack_blocks(bytes, count, &packed);
    if (fd < 0 || write(fd, packed.data, packed.count) != (ssize_t)packed.count)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (profile_open_saved(&profile, &options, &file, 1, &problem) == 0) {
        look(profile);
        profile_free(profile);
    } else if (!*problem.reason) {
        abort();
    }
    bytes_free(&packed);
    close(fd);
    return 0;
}
