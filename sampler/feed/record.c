#include "record.h"

#include <stddef.h>
#include <string.h>

static bool fits(const union feed_any *record, size_t bytes)
{
    return record->head.size_bytes <= sizeof *record && record->head.size_bytes >= bytes;
}

struct feed_allocation_words feed_sample_allocation(const struct feed_sample *sample)
{
    struct feed_allocation_words words;

    memcpy(&words, &sample->frames[sample->depth], sizeof words);
    return words;
}

struct feed_wait_words feed_sample_wait(const struct feed_sample *sample)
{
    struct feed_wait_words words;

    memcpy(&words, &sample->frames[sample->depth], sizeof words);
    return words;
}

static bool sample_is_good(const union feed_any *record)
{
    const struct feed_sample *sample = &record->sample;

    return fits(record, sizeof *sample) && sample->depth <= FEED_DEPTH_MAX &&
           sample->end < FEED_END_COUNT && sample->kind < FEED_KIND_COUNT &&
           fits(record, sizeof *sample + sample->depth * sizeof sample->frames[0] +
                            feed_words_bytes(sample->kind)) &&
           sample->more_running <= FEED_OWED_MAX && sample->more_runnable <= FEED_OWED_MAX &&
           (feed_words_bytes(sample->kind) != sizeof(struct feed_wait_words) ||
            feed_sample_wait(sample).what < FEED_WAIT_COUNT);
}

static bool again_is_good(const union feed_any *record)
{
    const struct feed_again *again = &record->again;

    return fits(record, sizeof *again) && again->rounds > 0 && again->rounds <= FEED_ROUNDS_MAX &&
           again->period_us <= FEED_PERIOD_MAX_US && again->count > 0 &&
           again->count <= FEED_SLEEPERS_MAX &&
           fits(record, sizeof *again + again->count * sizeof again->sleepers[0]);
}

static enum feed_record_is good(bool is_good)
{
    return is_good ? FEED_RECORD_IS_GOOD : FEED_RECORD_IS_BAD;
}

/* Ring 0 tells of other slots, and all others of their own only. */
enum feed_record_is feed_record_check(const union feed_any *record, uint32_t ring)
{
    switch (record->head.type) {
    case FEED_RECORD_SAMPLE:
        return good(ring != 0 && sample_is_good(record) && record->sample.kind != FEED_KIND_STALL);
    case FEED_RECORD_SAMPLE_OF:
        return good(ring == 0 && sample_is_good(record) && !feed_kind_is_own(record->sample.kind));
    case FEED_RECORD_AGAIN:
        return good(ring == 0 && again_is_good(record));
    case FEED_RECORD_EVENT:
        return FEED_RECORD_IS_BAD;
    default:
        return FEED_RECORD_IS_UNKNOWN;
    }
}

/* ---- events ---- */

#define PHASE_HAS(name, what) [FEED_EVENT_##name] = what,
enum {
    NOTHING = FEED_EVENT_HAS_NOTHING,
    NAME = FEED_EVENT_HAS_NAME,
    ID = FEED_EVENT_HAS_ID,
    DURATION = FEED_EVENT_HAS_DURATION,
};
static const uint8_t has[FEED_EVENT_PHASE_COUNT] = { FEED_EVENT_PHASES(PHASE_HAS) };
static_assert((int)FEED_EVENT_PHASE_COUNT <= 16, "four bits of the head");

struct words {
    const uint64_t *at;
    uint32_t left;
};

static bool take_word(struct words *words, uint64_t *out)
{
    if (!words->left)
        return false;
    *out = *words->at++;
    words->left--;
    return true;
}

static bool take_text(struct words *words, uint32_t bytes, struct feed_event_argument *out)
{
    uint32_t count = (bytes + 7) / 8;

    if (bytes > FEED_EVENT_TEXT_MAX || count > words->left)
        return false;
    out->value = bytes;
    out->text = (const char *)words->at;
    words->at += count;
    words->left -= count;
    return true;
}

static bool take_argument(struct words *words, struct feed_event_argument *out)
{
    struct feed_argument head;
    uint64_t word;

    if (!take_word(words, &word))
        return false;
    memcpy(&head, &word, sizeof head);
    if (head.type >= FEED_ARGUMENT_TYPES)
        return false;
    out->name = head.name;
    out->type = (enum feed_argument_type)head.type;
    out->text = NULL;
    return out->type == FEED_ARGUMENT_TEXT ? take_text(words, head.text_bytes, out)
                                           : take_word(words, &out->value);
}

static bool take_parts(struct words *words, struct feed_event_parts *out)
{
    uint64_t name = 0;

    if ((has[out->phase] & NAME && !take_word(words, &name)) ||
        (has[out->phase] & ID && !take_word(words, &out->id)) ||
        (has[out->phase] & DURATION && !take_word(words, &out->duration_ns)))
        return false;
    out->name = (uint32_t)name;
    for (uint32_t i = 0; i < out->argument_count; i++)
        if (!take_argument(words, &out->arguments[i]))
            return false;
    return words->left == 0;
}

enum feed_record_is feed_event_check(const union feed_any *record, struct feed_event_parts *out)
{
    const struct feed_event *event = &record->event;
    uint16_t head = record->head.slot;
    struct words words = { event->words, 0 };

    if (record->head.type != FEED_RECORD_EVENT)
        return record->head.type > FEED_RECORD_EVENT ? FEED_RECORD_IS_UNKNOWN : FEED_RECORD_IS_BAD;
    if (!fits(record, sizeof *event) || record->head.size_bytes > FEED_EVENT_BYTES_MAX)
        return FEED_RECORD_IS_BAD;
    if (FEED_EVENT_PHASE(head) >= FEED_EVENT_PHASE_COUNT)
        return FEED_RECORD_IS_UNKNOWN;
    *out = (struct feed_event_parts){ .phase = (enum feed_event_phase)FEED_EVENT_PHASE(head),
                                      .stream = FEED_EVENT_STREAM(head),
                                      .timestamp_ns = event->timestamp_ns,
                                      .argument_count = FEED_EVENT_ARGUMENTS(head) };
    words.left = (uint32_t)((record->head.size_bytes - sizeof *event) / sizeof(uint64_t));
    return good(out->argument_count <= FEED_EVENT_ARGUMENTS_MAX && take_parts(&words, out));
}
