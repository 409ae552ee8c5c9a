/*
 * events.c - the calls of event.h.
 *
 * BEGIN and END are what a program has most of: they have a quick way (event_quick.h). All others,
 * what has arguments, and what is told first, lost or refused, go the long one.
 */
#include "event_names.h"
#include "event_quick.h"
#include "event_thread.h"

#include "../../feed/feed_count.h"
#include "../../include/isoscope/isoscope.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* The public kinds are the feed's phases. */
#define SAME(name)                                                                                 \
    static_assert((int)ISOSCOPE_EVENT_##name == (int)FEED_EVENT_##name, "one numbering")
SAME(BEGIN);
SAME(END);
SAME(COMPLETE);
SAME(INSTANT);
SAME(ASYNC_BEGIN);
SAME(ASYNC_INSTANT);
SAME(ASYNC_END);
SAME(FLOW_BEGIN);
SAME(FLOW_STEP);
SAME(FLOW_END);
SAME(COUNTER);
static_assert((int)ISOSCOPE_IS_INT == (int)FEED_ARGUMENT_INT &&
                  (int)ISOSCOPE_IS_UINT == (int)FEED_ARGUMENT_UINT &&
                  (int)ISOSCOPE_IS_DOUBLE == (int)FEED_ARGUMENT_DOUBLE &&
                  (int)ISOSCOPE_IS_TEXT == (int)FEED_ARGUMENT_TEXT,
              "one numbering");
static_assert(sizeof(((struct isoscope_site *)0)->argument_names) / sizeof(uint32_t) ==
                  FEED_EVENT_ARGUMENTS_MAX,
              "a site knows each argument's name");

/* What is written: its site, and what the site knows in this feed. */
struct event {
    struct event_write write;
    struct isoscope_site *site;
    uint64_t known;
    enum feed_event_phase phase;
    const struct isoscope_argument *arguments;
    uint32_t argument_count;
};

/* ---- before ---- */

static SIGNAL_SAFE bool is_wanted(struct event *event)
{
    uint64_t streams = atomic_load_explicit(event->write.thread->streams, memory_order_relaxed);

    if (__builtin_expect((streams >> EVENT_KNOWN_STREAM(event->known) & 1) != 0, 1))
        return true;
    event_epoch_follow(true);
    return false;
}

static SIGNAL_SAFE uint64_t learn(struct event *event)
{
    return event_names_learn(event->write.thread->writer, event->site, event->write.epoch,
                             event->arguments, event->argument_count);
}

/* True: event->write is open, and there may be room. */
SIGNAL_SAFE_INLINE bool open_event(struct event *event)
{
    if (__builtin_expect(!event_thread_open(&event->write), 0)) {
        event_thread_refused(&event->write, event->phase);
        return false;
    }
    event->known = event_known(event->site);
    if (__builtin_expect(EVENT_KNOWN_EPOCH(event->known) != event->write.epoch, 0))
        event->known = learn(event);
    if (!is_wanted(event)) {
        event_thread_close(&event->write);
        return false;
    }
    return true;
}

/* NULL: it is lost. */
SIGNAL_SAFE_INLINE struct feed_event *reserve(struct event *event, uint32_t bytes)
{
    struct feed_event *record = NULL;

    if (__builtin_expect(!atomic_load_explicit(&event->write.thread->lost, memory_order_relaxed),
                         1) ||
        event_thread_tell_loss(&event->write))
        record = ring_find_room(&event->write.ring, bytes);
    if (__builtin_expect(!record, 0)) {
        event_thread_lose(&event->write, event->phase, FEED_EVENT_LOSS_RING_FULL);
        event_thread_close(&event->write);
        return NULL;
    }
    ring_fetch_ahead(record);
    record->head = (struct feed_record){
        .size_bytes = bytes,
        .type = FEED_RECORD_EVENT,
        .slot =
            FEED_EVENT_HEAD(event->phase, EVENT_KNOWN_STREAM(event->known), event->argument_count),
    };
    return record;
}

SIGNAL_SAFE_INLINE void publish(struct event *event)
{
    if (__builtin_expect(ring_is_writing(&event->write.ring), 1)) {
        ring_publish(&event->write.ring);
        ring_end_write(&event->write.ring);
        return;
    }
    event_thread_lose(&event->write, event->phase, FEED_EVENT_LOSS_BUSY);
}

SIGNAL_SAFE_INLINE int64_t now_ns(const struct event *event)
{
    return (int64_t)event_clock_ns(&event->write.thread->clock);
}

/* ---- any event ---- */

static const uint8_t has[FEED_EVENT_PHASE_COUNT] = {
#define NOTHING               FEED_EVENT_HAS_NOTHING
#define NAME                  FEED_EVENT_HAS_NAME
#define ID                    FEED_EVENT_HAS_ID
#define DURATION              FEED_EVENT_HAS_DURATION
#define PHASE_HAS(name, what) [FEED_EVENT_##name] = what,
    FEED_EVENT_PHASES(PHASE_HAS)
};

struct sizes {
    uint32_t bytes;
    uint16_t texts[FEED_EVENT_ARGUMENTS_MAX];
};

SIGNAL_SAFE_INLINE uint32_t whole_words(uint32_t bytes)
{
    return (bytes + 7) & ~7u;
}

/* As much of it as there is room for. */
static SIGNAL_SAFE uint16_t text_bytes(struct event *event, const char *text, uint32_t room)
{
    uint32_t most = room < FEED_EVENT_TEXT_MAX ? room : FEED_EVENT_TEXT_MAX;
    const char *end = text ? memchr(text, 0, most + 1) : NULL;

    if (!text)
        return 0;
    if (!end)
        feed_count(&event->write.thread->writer->header->status.texts_cut, 1);
    return (uint16_t)(end ? (uint32_t)(end - text) : most);
}

static SIGNAL_SAFE void measure(struct event *event, struct sizes *sizes)
{
    uint8_t words = has[event->phase];
    uint32_t rest;

    sizes->bytes = sizeof(struct feed_event) +
                   8 * (uint32_t)(!!(words & NAME) + !!(words & ID) + !!(words & DURATION));
    rest = event->argument_count * 16; /* of those that are to come, without their texts */
    for (uint32_t i = 0; i < event->argument_count; i++) {
        const struct isoscope_argument *argument = &event->arguments[i];

        if (argument->type != ISOSCOPE_IS_TEXT) {
            sizes->bytes += 16;
        } else {
            sizes->texts[i] =
                text_bytes(event, argument->text, FEED_EVENT_BYTES_MAX - sizes->bytes - rest);
            sizes->bytes += 8 + whole_words(sizes->texts[i]);
        }
        rest -= 16;
    }
}

static SIGNAL_SAFE uint64_t *put_argument(uint64_t *word, const struct isoscope_argument *argument,
                                          uint32_t name, uint16_t bytes)
{
    const struct feed_argument head = {
        .name = name,
        .text_bytes = argument->type == ISOSCOPE_IS_TEXT ? bytes : 0,
        .type = (uint16_t)argument->type,
    };

    memcpy(word++, &head, sizeof head);
    if (argument->type == ISOSCOPE_IS_TEXT) {
        memcpy(word, argument->text ? argument->text : "", bytes);
        memset((char *)word + bytes, 0, whole_words(bytes) - bytes);
        return word + whole_words(bytes) / 8;
    }
    if (argument->type == ISOSCOPE_IS_DOUBLE)
        memcpy(word, &argument->number, sizeof *word);
    else
        *word = (uint64_t)argument->integer;
    return word + 1;
}

static SIGNAL_SAFE void fill(const struct event *event, const struct isoscope_event *details,
                             const struct sizes *sizes, struct feed_event *record)
{
    uint8_t words = has[event->phase];
    uint64_t *word = record->words;

    if (words & NAME)
        *word++ = EVENT_KNOWN_NAME(event->known);
    if (words & ID)
        *word++ = details->id;
    if (words & DURATION)
        *word++ = details->duration_ns;
    for (uint32_t i = 0; i < event->argument_count; i++)
        word = put_argument(word, &event->arguments[i],
                            __atomic_load_n(&event->site->argument_names[i], __ATOMIC_RELAXED),
                            sizes->texts[i]);
    record->timestamp_ns = words & DURATION ? (int64_t)details->start_ns : now_ns(event);
}

static SIGNAL_SAFE uint32_t arguments_of(const struct isoscope_argument *arguments, uint32_t count)
{
    uint32_t good = 0;

    if (!arguments)
        return 0;
    while (good < count && good < FEED_EVENT_ARGUMENTS_MAX &&
           arguments[good].type <= ISOSCOPE_IS_TEXT)
        good++;
    return good;
}

static SIGNAL_SAFE void tell(struct isoscope_site *site, const struct isoscope_event *details,
                             enum feed_event_phase phase)
{
    struct event event = { .site = site,
                           .phase = phase,
                           .arguments = details->arguments,
                           .argument_count =
                               arguments_of(details->arguments, details->argument_count) };
    struct sizes sizes = { 0 };
    struct feed_event *record;

    if (!open_event(&event))
        return;
    measure(&event, &sizes);
    record = reserve(&event, sizes.bytes);
    if (!record)
        return;
    fill(&event, details, &sizes, record);
    publish(&event);
}

/* ---- the calls ---- */

static __attribute__((noinline)) SIGNAL_SAFE void
begin(struct isoscope_site *site, const struct isoscope_argument *arguments, uint32_t count)
{
    const struct isoscope_event details = { .arguments = arguments, .argument_count = count };

    if (count || !event_quick_tell(site, FEED_EVENT_BEGIN, true))
        tell(site, &details, FEED_EVENT_BEGIN);
}

static __attribute__((noinline)) SIGNAL_SAFE void end(struct isoscope_site *site)
{
    if (!event_quick_tell(site, FEED_EVENT_END, true))
        tell(site, &(const struct isoscope_event){ 0 }, FEED_EVENT_END);
}

SIGNAL_SAFE void isoscope_event_begin(struct isoscope_site *site,
                                      const struct isoscope_argument *arguments, uint32_t count)
{
    if (count || !event_quick_tell(site, FEED_EVENT_BEGIN, false))
        begin(site, arguments, count);
}

SIGNAL_SAFE void isoscope_event_end(struct isoscope_site *site)
{
    if (!event_quick_tell(site, FEED_EVENT_END, false))
        end(site);
}

SIGNAL_SAFE void isoscope_event_leave(struct isoscope_site **site)
{
    if (*site)
        isoscope_event_end(*site);
}

SIGNAL_SAFE void isoscope_event_tell(struct isoscope_site *site, const struct isoscope_event *event)
{
    if (event->struct_size >= sizeof *event && event->kind <= ISOSCOPE_EVENT_COUNTER)
        tell(site, event, (enum feed_event_phase)event->kind);
}

SIGNAL_SAFE void isoscope_event_frame(const struct isoscope_frame *frame)
{
    enum { NS_PER_US = 1000 };
    static struct isoscope_site site = ISOSCOPE_SITE("Embedder", "Frame");
    const struct isoscope_argument parts[] = {
        ISOSCOPE_UINT("build", frame->build_ns / NS_PER_US),
        ISOSCOPE_UINT("raster", frame->raster_ns / NS_PER_US),
        ISOSCOPE_UINT("vsyncOverhead", frame->vsync_overhead_ns / NS_PER_US),
    };
    const struct isoscope_event event = {
        .id = frame->number,
        .start_ns = frame->start_ns,
        .duration_ns = frame->elapsed_ns,
        .arguments = parts,
        .argument_count = frame->has_parts ? sizeof parts / sizeof parts[0] : 0,
    };

    if (frame->struct_size >= sizeof *frame && ISOSCOPE_IS_ON(&site))
        tell(&site, &event, FEED_EVENT_FRAME);
}

SIGNAL_SAFE uint64_t isoscope_event_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}
