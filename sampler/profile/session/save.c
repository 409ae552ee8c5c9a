#include "../recorder.h"

#include "../../include/isoscope/isoscope.h"
#include "../control.h"
#include "../parts.h"
#include "../saved.h"
#include "../timeline.h"
#include "session_options.h"
#include "session_writer.h"

#include <stdlib.h>
#include <time.h>

enum save_phase {
    SAVE_HEAD,
    SAVE_SAMPLES,
    SAVE_LIVE,
    SAVE_EVENTS,
    SAVE_STALLS,
    SAVE_TABLES,
    SAVE_NAMES,
    SAVE_END,
    SAVE_DONE
};

struct save {
    struct profile *profile;
    struct session_options options;
    struct session_writer *writer;
    struct bytes bytes;
    enum save_phase phase;
    bool partial_names_ok;
};

static int64_t now_us(const struct profile *profile)
{
    struct timespec now;

    if (profile_is_saved(profile))
        return saved_now_us(profile);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int save_begin(struct save **out, struct profile *profile, const struct session_options *options,
               bool partial_names_ok)
{
    struct save *save = calloc(1, sizeof(*save));

    if (!save)
        return -ISOSCOPE_NO_MEMORY;
    save->profile = profile;
    save->partial_names_ok = partial_names_ok;
    if (!session_options_copy(&save->options, options) ||
        session_writer_new(&save->writer, profile, &save->options, false) < 0) {
        save_free(save);
        return -ISOSCOPE_NO_MEMORY;
    }
    profile_sync(profile);
    *out = save;
    return 0;
}

void save_free(struct save *save)
{
    if (!save)
        return;
    session_writer_free(save->writer);
    session_options_free(&save->options);
    bytes_free(&save->bytes);
    free(save);
}

static int begin(struct save *save)
{
    int64_t first_us = profile_history(save->profile).first_us;

    if (!first_us)
        first_us = profile_timeline_history(save->profile).first_ns / 1000;
    save->phase = SAVE_SAMPLES;
    return session_writer_begin(save->writer, first_us ? first_us : now_us(save->profile),
                                &save->bytes);
}

static int step_samples(struct save *save)
{
    int result = session_writer_samples(save->writer, &save->bytes);

    if (!result)
        save->phase = SAVE_LIVE;
    return result < 0 ? result : 0;
}

static int step_events(struct save *save)
{
    int result = session_writer_events(save->writer, &save->bytes);

    if (!result)
        save->phase = SAVE_STALLS;
    return result < 0 ? result : 0;
}

static int step_stalls(struct save *save)
{
    int result = session_writer_stalls(save->writer, &save->bytes);

    if (!result)
        save->phase = SAVE_TABLES;
    return result < 0 ? result : 0;
}

static int step_names(struct save *save)
{
    uint32_t waits;
    int error = session_writer_names(save->writer, &save->bytes, &waits);

    if (error)
        return error;
    if (waits && !save->partial_names_ok && !save->bytes.count)
        return -ISOSCOPE_PENDING;
    if (!waits || save->partial_names_ok)
        save->phase = SAVE_END;
    return 0;
}

static int do_phase(struct save *save)
{
    switch (save->phase) {
    case SAVE_HEAD:
        return begin(save);
    case SAVE_SAMPLES:
        return step_samples(save);
    case SAVE_LIVE:
        save->phase = SAVE_EVENTS;
        return session_writer_live(save->writer, &save->bytes);
    case SAVE_EVENTS:
        return step_events(save);
    case SAVE_STALLS:
        return step_stalls(save);
    case SAVE_TABLES:
        save->phase = SAVE_NAMES;
        return session_writer_tables(save->writer, now_us(save->profile), &save->bytes);
    case SAVE_NAMES:
        return step_names(save);
    default:
        save->phase = SAVE_DONE;
        return session_writer_end(save->writer, now_us(save->profile), &save->bytes);
    }
}

int save_step(struct save *save, const void **bytes, size_t *count)
{
    int error;

    bytes_clear(&save->bytes);
    *count = 0;
    if (save->phase == SAVE_DONE)
        return 0;
    error = do_phase(save);
    if (error)
        return error;
    *bytes = save->bytes.data;
    *count = save->bytes.count;
    return 1;
}
