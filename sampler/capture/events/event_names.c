#include "event_names.h"

#include "../../feed/feed_count.h"
#include "../../feed/feed_events.h"

#include <stdatomic.h>
#include <string.h>

enum { STREAM_BYTES = 48, OWN_STREAMS = FEED_STREAM_OTHERS - FEED_STREAM_COUNT };

/* In the order in which they were first used; an entry never changes again. */
static struct own_stream {
    _Atomic uint32_t state; /* FREE: nor is there one behind it */
    char name[STREAM_BYTES];
} own_streams[OWN_STREAMS];
enum { FREE, TAKEN, READY }; /* TAKEN: whoever did so was interrupted, perhaps by a fork */

#define STREAM_NAME(name, text) [FEED_STREAM_##name] = text,
static const char fixed[FEED_STREAM_COUNT][16] = { FEED_STREAMS(STREAM_NAME) };

static SIGNAL_SAFE bool is_stream(const struct own_stream *stream, const char *name, size_t bytes)
{
    return memcmp(stream->name, name, bytes) == 0 && !stream->name[bytes];
}

/* Another thread may take the same name at the same time: then it has two places, with one name. */
static SIGNAL_SAFE uint32_t own_place(const char *name)
{
    size_t bytes = 0;

    while (bytes < STREAM_BYTES - 1 && name[bytes])
        bytes++;
    for (uint32_t i = 0; i < OWN_STREAMS; i++) {
        struct own_stream *stream = &own_streams[i];
        uint32_t state = FREE;

        if (atomic_compare_exchange_strong(&stream->state, &state, TAKEN)) {
            memcpy(stream->name, name, bytes);
            atomic_store_explicit(&stream->state, READY, memory_order_release);
            return FEED_STREAM_COUNT + i;
        }
        if (state == READY && is_stream(stream, name, bytes))
            return FEED_STREAM_COUNT + i;
    }
    return FEED_STREAM_OTHERS;
}

static SIGNAL_SAFE uint32_t stream_place(const char *name)
{
    for (uint32_t place = 0; place < FEED_STREAM_COUNT; place++)
        if (strcmp(name, fixed[place]) == 0)
            return place;
    return *name ? own_place(name) : FEED_STREAM_OTHERS;
}

/* In this feed, once. */
static SIGNAL_SAFE void tell_stream(struct feed_writer *writer, uint32_t place)
{
    if (place < FEED_STREAM_COUNT ||
        atomic_load_explicit(&writer->header->status.streams[place], memory_order_relaxed))
        return;
    feed_events_stream(writer, place,
                       place == FEED_STREAM_OTHERS ? "others"
                                                   : own_streams[place - FEED_STREAM_COUNT].name);
}

static SIGNAL_SAFE uint32_t name_place(struct feed_writer *writer, const char *name)
{
    if (!name)
        return 0;
    if (!memchr(name, 0, FEED_NAME_MAX + 1))
        feed_count(&writer->header->status.names_cut, 1);
    return feed_writer_name(writer, name);
}

uint64_t event_names_learn(struct feed_writer *writer, struct isoscope_site *site, uint32_t epoch,
                           const struct isoscope_argument *arguments, uint32_t count)
{
    uint32_t stream = stream_place(site->stream ? site->stream : "");
    uint64_t known;

    tell_stream(writer, stream);
    for (uint32_t i = 0; i < count; i++)
        __atomic_store_n(&site->argument_names[i], name_place(writer, arguments[i].name),
                         __ATOMIC_RELAXED);
    known = EVENT_KNOWN(epoch, stream, name_place(writer, site->name));
    __atomic_store_n(&site->streams, UINT64_C(1) << stream, __ATOMIC_RELAXED);
    __atomic_store_n(&site->known, known, __ATOMIC_RELEASE);
    return known;
}
