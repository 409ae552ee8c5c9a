#include "record.h"

#include <stdbool.h>
#include <stddef.h>

static bool fits(const union feed_any *record, size_t bytes)
{
    return record->head.size_bytes <= sizeof *record && record->head.size_bytes >= bytes;
}

static bool sample_is_good(const union feed_any *record)
{
    const struct feed_sample *sample = &record->sample;

    return fits(record, sizeof *sample) && sample->depth <= FEED_DEPTH_MAX &&
           fits(record, sizeof *sample + sample->depth * sizeof sample->frames[0]) &&
           sample->end < FEED_END_COUNT && sample->kind < FEED_KIND_COUNT &&
           sample->more_running <= FEED_OWED_MAX && sample->more_runnable <= FEED_OWED_MAX;
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
        return good(ring != 0 && sample_is_good(record));
    case FEED_RECORD_SAMPLE_OF:
        return good(ring == 0 && sample_is_good(record));
    case FEED_RECORD_AGAIN:
        return good(ring == 0 && again_is_good(record));
    default:
        return FEED_RECORD_IS_UNKNOWN;
    }
}
