/*
 * fake_feed.h - a feed without a program: the test writes what a program would.
 *
 *     CLEANUP(fake_feed_close) struct fake_feed feed;
 *     fake_feed_open(&feed, getpid());
 *     slot = fake_feed_thread(&feed, 7, "main");
 *     FAKE_SAMPLE(&feed, slot, 1000, FEED_FRAME(module, 0x10), FEED_FRAME(module, 0x20));
 */
#ifndef FAKE_FEED_H
#define FAKE_FEED_H

#include "sampler/feed/cleanup.h"
#include "sampler/feed/feed_writer.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fake_feed {
    struct feed_writer writer;
    int memfd;
};

static inline void fake_feed_open(struct fake_feed *feed, int32_t pid)
{
    if (feed_writer_create(&feed->writer, &feed->memfd, pid, 1) < 0)
        abort();
}

static inline void fake_feed_close(struct fake_feed *feed)
{
    feed_writer_destroy(&feed->writer);
    close(feed->memfd);
}

/* A descriptor to give away. */
static inline int fake_feed_memfd(const struct fake_feed *feed)
{
    return fcntl(feed->memfd, F_DUPFD_CLOEXEC, 0);
}

static inline void fake_feed_rename(struct fake_feed *feed, uint32_t slot, const char *name)
{
    char padded[16] = { 0 };

    snprintf(padded, sizeof(padded), "%s", name);
    feed_writer_thread_name(&feed->writer, slot, padded);
}

static inline uint32_t fake_feed_thread(struct fake_feed *feed, int32_t tid, const char *name)
{
    uint32_t slot = feed_writer_thread_claim(&feed->writer, tid, 1);

    fake_feed_rename(feed, slot, name);
    feed_writer_thread_publish(&feed->writer, slot);
    return slot;
}

static inline uint32_t fake_feed_module(struct fake_feed *feed, const char *path)
{
    struct feed_module module = { .bias = 0, .start = 0, .end = 1 << 20 };

    return feed_writer_module_add(&feed->writer, &module, path);
}

/* Where a module stands in the feed: to write nonsense there. */
static inline struct feed_module *fake_feed_entry(struct fake_feed *feed, uint32_t module)
{
    return &feed->writer.modules[module];
}

/* Writes over all names. */
static inline void fake_feed_scribble_names(struct fake_feed *feed, int byte)
{
    memset(feed->writer.names, byte, FEED_NAMES_BYTES);
}

struct fake_sample {
    int64_t timestamp_us;
    uint64_t cpu_ns;
    uint8_t end, state;
    uint32_t tag;
    uint16_t depth;
    const uint64_t *frames;
};

/* False when the ring is full. */
static inline bool fake_feed_write(struct fake_feed *feed, uint32_t slot,
                                   const struct fake_sample *sample)
{
    uint32_t bytes = (uint32_t)(sizeof(struct feed_sample) + sample->depth * sizeof(uint64_t));
    struct ring_writer ring;
    struct feed_sample *record;

    feed_writer_ring(&feed->writer, slot, &ring);
    record = ring_reserve(&ring, bytes);
    if (!record)
        return false;
    *record = (struct feed_sample){ .head = { .size_bytes = bytes, .type = FEED_RECORD_SAMPLE },
                                    .timestamp_us = sample->timestamp_us,
                                    .cpu_ns = sample->cpu_ns,
                                    .depth = sample->depth,
                                    .end = sample->end,
                                    .state = sample->state,
                                    .tag = sample->tag };
    for (uint32_t i = 0; i < sample->depth; i++)
        record->frames[i] = sample->frames[i];
    ring_commit(&ring);
    return true;
}

/* What wall mode's rounds say of a sleeping one; again: no more than that it sleeps on. */
static inline void fake_feed_asleep(struct fake_feed *feed, uint32_t slot, int64_t time_us,
                                    enum feed_state state, uint64_t frame, bool again)
{
    uint32_t bytes = sizeof(struct feed_sample) + 8;
    uint16_t generation = (uint16_t)atomic_load(&feed->writer.threads[slot].generation);
    struct feed_again *sleeps;
    struct ring_writer ring;
    void *record;

    feed_writer_ring(&feed->writer, 0, &ring);
    record = ring_reserve(&ring, bytes);
    if (again) {
        sleeps = record;
        sleeps->head = (struct feed_record){ 32, FEED_RECORD_AGAIN, 0 };
        sleeps->timestamp_us = time_us;
        sleeps->period_us = 0;
        sleeps->rounds = 1;
        sleeps->count = 1;
        sleeps->sleepers[0] = FEED_SLEEPER(slot, generation, state);
    } else {
        *(struct feed_sample *)record =
            (struct feed_sample){ .head = { bytes, FEED_RECORD_SAMPLE_OF, (uint16_t)slot },
                                  .timestamp_us = time_us,
                                  .depth = 1,
                                  .state = (uint8_t)state,
                                  .generation = generation };
        ((struct feed_sample *)record)->frames[0] = frame;
    }
    ring_commit(&ring);
}

/* A look at a sleeping thread, because a loop was late. */
static inline void fake_feed_look(struct fake_feed *feed, uint32_t slot, int64_t time_us,
                                  enum feed_state state, uint64_t frame)
{
    uint32_t bytes = sizeof(struct feed_sample) + 8;
    struct feed_sample *sample;
    struct ring_writer ring;

    feed_writer_ring(&feed->writer, 0, &ring);
    sample = (struct feed_sample *)ring_reserve(&ring, bytes);
    *sample = (struct feed_sample){ .head = { bytes, FEED_RECORD_SAMPLE_OF, (uint16_t)slot },
                                    .timestamp_us = time_us,
                                    .depth = 1,
                                    .state = (uint8_t)state,
                                    .generation = (uint16_t)atomic_load(
                                        &feed->writer.threads[slot].generation),
                                    .kind = FEED_KIND_STALL };
    sample->frames[0] = frame;
    ring_commit(&ring);
}

/* Frames leaf first. */
#define FAKE_SAMPLE(feed, slot, time_us, ...)                                                      \
    fake_feed_write(                                                                               \
        feed, slot,                                                                                \
        &(struct fake_sample){ .timestamp_us = (time_us),                                          \
                               .cpu_ns = 1000000,                                                  \
                               .depth = sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t),    \
                               .frames = (uint64_t[]){ __VA_ARGS__ } })

/* Its program stops the sampler, and runs on. */
static inline void fake_feed_stop(struct fake_feed *feed)
{
    atomic_store(&feed->writer.header->status.stopped, 1);
}

#endif
