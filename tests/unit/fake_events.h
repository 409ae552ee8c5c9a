/*
 * fake_events.h - events in a feed without a program.
 *
 *     fake_event(&feed, slot, FEED_EVENT_BEGIN, 1000, "name", 0, 0, NULL, 0);
 */
#ifndef FAKE_EVENTS_H
#define FAKE_EVENTS_H

#include "fake_feed.h"
#include "sampler/feed/feed_events.h"

struct fake_argument {
    const char *name;
    enum feed_argument_type type;
    uint64_t word;
    const char *text;
};

static inline uint32_t fake_event_argument(struct fake_feed *feed, uint64_t *words,
                                           const struct fake_argument *from)
{
    size_t bytes = from->text ? strlen(from->text) : 0;
    struct feed_argument head = { .name = feed_writer_name(&feed->writer, from->name),
                                  .text_bytes = (uint16_t)bytes,
                                  .type = (uint16_t)from->type };

    memcpy(words, &head, sizeof(head));
    words[1] = from->word;
    if (from->text)
        memcpy(&words[1], from->text, bytes);
    return from->text ? 1 + (uint32_t)(bytes + 7) / 8 : 2;
}

/* Of stream Dart. name NULL, and id and duration in phases that have none, are not looked at. False
 * when the ring is full. */
static inline bool fake_event(struct fake_feed *feed, uint32_t slot, enum feed_event_phase phase,
                              int64_t at_ns, const char *name, uint64_t id, uint64_t duration_ns,
                              const struct fake_argument *arguments, uint32_t count)
{
    bool lasts =
        phase == FEED_EVENT_COMPLETE || phase == FEED_EVENT_FRAME || phase == FEED_EVENT_LOST;
    bool has_id = phase >= FEED_EVENT_ASYNC_BEGIN && phase != FEED_EVENT_COUNTER;
    uint64_t words[2048] = { 0 };
    struct ring_writer ring;
    struct feed_event *event;
    uint32_t used = 0, bytes;

    if (phase != FEED_EVENT_END && phase != FEED_EVENT_LOST)
        words[used++] = feed_writer_name(&feed->writer, name);
    if (has_id)
        words[used++] = id;
    if (lasts)
        words[used++] = duration_ns;
    for (uint32_t i = 0; i < count; i++)
        used += fake_event_argument(feed, &words[used], &arguments[i]);
    bytes = (uint32_t)(sizeof(*event) + used * sizeof(*words));
    if (!feed_events_ring(&feed->writer, slot, &ring))
        abort();
    event = ring_reserve(&ring, bytes);
    if (!event)
        return false;
    event->head = (struct feed_record){ bytes, FEED_RECORD_EVENT,
                                        FEED_EVENT_HEAD(phase, FEED_STREAM_DART, count) };
    event->timestamp_ns = at_ns;
    memcpy(event->words, words, used * sizeof(*words));
    return ring_commit(&ring);
}

static inline void fake_begin(struct fake_feed *feed, uint32_t slot, int64_t at_ns,
                              const char *name)
{
    fake_event(feed, slot, FEED_EVENT_BEGIN, at_ns, name, 0, 0, NULL, 0);
}

static inline void fake_end(struct fake_feed *feed, uint32_t slot, int64_t at_ns)
{
    fake_event(feed, slot, FEED_EVENT_END, at_ns, NULL, 0, 0, NULL, 0);
}

#endif
