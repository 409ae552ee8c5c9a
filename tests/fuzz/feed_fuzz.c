/*
 * feed_fuzz.c - any bytes as what a program has in its feed: rings of events and samples, loops, threads, names.
 *
 * The program may be hostile, or be crashing. The input is steps: what is written (a letter of steps), two bytes of
 * length, content. After each step everything is read; what the reader lets pass must be whole.
 */
#include "sampler/feed/feed_events.h"
#include "sampler/feed/feed_loops.h"
#include "sampler/feed/feed_reader.h"
#include "sampler/feed/feed_reader_loops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_HEAD = 3, READS_MAX = 1 << 17 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

struct feed {
    struct feed_writer writer;
    struct feed_reader *reader;
    uint32_t slot;
    struct feed_loop *loop;
    struct ring_writer events, samples, own; /* as they were before anything was written */
};

#define must(holds)                                                                                \
    do {                                                                                           \
        if (!(holds)) {                                                                            \
            fprintf(stderr, "feed_fuzz.c:%d: %s\n", __LINE__, #holds);                             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* As it is, from the head on, around the ring's end. */
static void write_raw(const struct ring_writer *ring, const uint8_t *bytes, size_t count)
{
    uint64_t head = atomic_load(ring->head);

    for (size_t i = 0; i < count; i++)
        ring->bytes[(head + i) % ring->size_bytes] = bytes[i];
    atomic_store(ring->head, head + count);
}

/* With the head of a record, so that what is changed is what it says. content: its slot, then the rest. Not by ring_reserve:
 * that believes the head, which raw bytes may have moved. */
static void write_record(const struct ring_writer *ring, uint16_t type, const uint8_t *content,
                         size_t count)
{
    static const uint8_t padding[8];
    struct feed_record head = { .type = type };
    size_t body = count - sizeof(head.slot);

    if (count < sizeof(head.slot))
        return;
    head.size_bytes = (uint32_t)(sizeof(head) + (body + 7) / 8 * 8);
    memcpy(&head.slot, content, sizeof(head.slot));
    write_raw(ring, (const uint8_t *)&head, sizeof(head));
    write_raw(ring, content + sizeof(head.slot), body);
    write_raw(ring, padding, head.size_bytes - sizeof(head) - body);
}

static void scribble(void *memory, size_t room, const uint8_t *bytes, size_t count)
{
    size_t from = count ? bytes[0] * room / 256 : 0;

    if (count > 1)
        memcpy((uint8_t *)memory + from, bytes + 1,
               count - 1 < room - from ? count - 1 : room - from);
}

static void step(struct feed *feed, uint8_t what, const uint8_t *bytes, size_t count)
{
    switch (what % 10) {
    case 0:
        return write_record(&feed->events, FEED_RECORD_EVENT, bytes, count);
    case 1:
        return write_raw(&feed->events, bytes, count);
    case 2:
        return write_record(&feed->samples, FEED_RECORD_SAMPLE, bytes, count);
    case 3:
        return write_raw(&feed->samples, bytes, count);
    case 4:
        return write_record(&feed->own, FEED_RECORD_SAMPLE_OF, bytes, count);
    case 5:
        return write_record(&feed->own, FEED_RECORD_AGAIN, bytes, count);
    case 6:
        return scribble(&feed->writer.threads[feed->slot], sizeof(struct feed_thread), bytes,
                        count);
    case 7:
        return scribble(feed->loop, sizeof(struct feed_loop), bytes, count);
    case 8:
        return scribble(feed->writer.names, FEED_NAMES_BYTES, bytes, count);
    default:
        return scribble(&feed->writer.header->status, sizeof(struct feed_status), bytes, count);
    }
}

static uint32_t sum_of(const char *text, uint64_t bytes)
{
    uint32_t sum = 0;

    for (uint64_t i = 0; i < bytes; i++)
        sum += (uint8_t)text[i];
    return sum;
}

static void check_event(struct feed *feed, const struct feed_event_parts *event)
{
    char name[FEED_NAME_MAX + 1];

    must(event->phase < FEED_EVENT_PHASE_COUNT && event->stream < FEED_STREAMS_MAX);
    must(event->argument_count <= FEED_EVENT_ARGUMENTS_MAX);
    if (feed_reader_name(feed->reader, event->name, name))
        must(strnlen(name, sizeof(name)) <= FEED_NAME_MAX);
    if (feed_reader_stream(feed->reader, event->stream, name))
        must(strnlen(name, sizeof(name)) <= FEED_NAME_MAX);
    for (uint32_t i = 0; i < event->argument_count; i++) {
        const struct feed_event_argument *argument = &event->arguments[i];

        must(argument->type < FEED_ARGUMENT_TYPES);
        must((argument->type == FEED_ARGUMENT_TEXT) == (argument->text != NULL));
        if (argument->text) {
            must(argument->value <= FEED_EVENT_BYTES_MAX);
            must(sum_of(argument->text, argument->value) <= 255 * argument->value);
        }
    }
}

static void check_record(const union feed_any *record)
{
    switch (record->head.type) {
    case FEED_RECORD_SAMPLE:
    case FEED_RECORD_SAMPLE_OF:
        must(record->sample.depth <= FEED_DEPTH_MAX && record->sample.end < FEED_END_COUNT);
        must(record->sample.kind < FEED_KIND_COUNT); /* its state may be a later version's */
        return;
    case FEED_RECORD_AGAIN:
        must(record->again.count <= FEED_SLEEPERS_MAX && record->again.rounds <= FEED_ROUNDS_MAX);
        return;
    default:
        abort();
    }
}

static void read_slot(struct feed *feed, uint32_t slot)
{
    struct feed_event_parts event;
    const union feed_any *record;
    struct feed_thread_view thread;
    uint32_t reads = 0;

    feed_reader_thread(feed->reader, slot, &thread);
    while ((record = feed_reader_next(feed->reader, slot, INT64_MAX))) {
        check_record(record);
        must(++reads < READS_MAX);
    }
    while (feed_reader_next_event(feed->reader, slot, &event)) {
        check_event(feed, &event);
        must(++reads < READS_MAX);
    }
}

static void read_all(struct feed *feed)
{
    struct feed_status_view status;
    struct feed_loop_marks marks;
    struct feed_loop_view loop;
    uint32_t slots = feed_reader_slots(feed->reader), loops = feed_reader_loops(feed->reader);

    feed_reader_status(feed->reader, &status);
    must(feed_reader_streams(feed->reader) <= FEED_STREAMS_MAX);
    for (uint32_t slot = 0; slot < slots && slot <= feed->slot + 1; slot++)
        read_slot(feed, slot);
    for (uint32_t entry = 0; entry < loops; entry++) {
        if (feed_reader_loop(feed->reader, entry, &loop))
            must(loop.kind < FEED_LOOP_KIND_COUNT && strlen(loop.name) <= FEED_NAME_MAX);
        feed_reader_loop_marks(feed->reader, entry, &marks);
    }
}

static void begin(struct feed *feed)
{
    const struct feed_loop_start start = { .tid = 7, .kind = FEED_LOOP_EPOLL };
    int memfd;

    must(feed_writer_create(&feed->writer, &memfd, 42, 1) == 0);
    must(feed_reader_open(&feed->reader, memfd) == 0);
    feed->slot = feed_writer_thread_claim(&feed->writer, 7, 1);
    must(feed->slot != 0);
    feed_writer_thread_publish(&feed->writer, feed->slot);
    feed_writer_name(&feed->writer, "name");
    feed_events_stream(&feed->writer, FEED_STREAM_COUNT, "own");
    feed->loop = feed_loops_begin(&feed->writer, &start);
    must(feed->loop != NULL);
    must(feed_events_ring(&feed->writer, feed->slot, &feed->events));
    feed_writer_ring(&feed->writer, feed->slot, &feed->samples);
    feed_writer_ring(&feed->writer, 0, &feed->own);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct feed feed = { 0 };

    begin(&feed);
    while (count >= STEP_HEAD) {
        uint8_t what = bytes[0];
        size_t size = bytes[1] | (size_t)bytes[2] << 8;

        bytes += STEP_HEAD;
        count -= STEP_HEAD;
        size = size < count ? size : count;
        step(&feed, what, bytes, size);
        read_all(&feed);
        bytes += size;
        count -= size;
    }
    feed_reader_free(feed.reader);
    feed_writer_destroy(&feed.writer);
    return 0;
}
