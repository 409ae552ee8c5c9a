#include "session_writer.h"

#include "../../include/isoscope/isoscope.h"
#include "events_writer.h"
#include "facts_writer.h"
#include "format/blocks.h"
#include "loops_writer.h"
#include "names_writer.h"
#include "samples_writer.h"
#include "stalls_writer.h"

#include <stdlib.h>

struct session_writer {
    struct table_writer tables;
    struct samples_writer samples[SAMPLE_KINDS]; /* those of kinds[] are open */
    struct events_writer events;
    struct stalls_writer stalls;
    struct loops_writer loops;
};

/* Those that only come. Looks at late loops are in their stalls; what lives comes and goes. */
static const enum sample_kind kinds[] = { SAMPLES_OF_TIME, SAMPLES_OF_ALLOCATIONS, SAMPLES_OF_LOCKS,
                                          SAMPLES_OF_WAITS, SAMPLES_OF_FAULTS };
enum { KIND_COUNT = sizeof(kinds) / sizeof(*kinds) };

static int open_samples(struct session_writer *writer)
{
    int error = samples_writer_open(&writer->samples[SAMPLES_OF_LIVE], SAMPLES_OF_LIVE);

    for (int i = 0; i < KIND_COUNT && !error; i++)
        error = samples_writer_open(&writer->samples[kinds[i]], kinds[i]);
    return error;
}

int session_writer_new(struct session_writer **out, struct profile *profile,
                       const struct session_options *options, bool recording)
{
    struct session_writer *writer = calloc(1, sizeof(*writer));

    if (!writer || table_writer_open(&writer->tables, profile, options, recording) < 0 ||
        open_samples(writer) < 0) {
        session_writer_free(writer);
        return -ISOSCOPE_NO_MEMORY;
    }
    *out = writer;
    return 0;
}

void session_writer_free(struct session_writer *writer)
{
    if (!writer)
        return;
    table_writer_close(&writer->tables);
    events_writer_free(&writer->events);
    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        samples_writer_close(&writer->samples[kind]);
    free(writer);
}

int session_writer_begin(struct session_writer *writer, int64_t start_us, struct bytes *out)
{
    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        samples_writer_begin(&writer->samples[kind]);
    loops_writer_begin(&writer->loops);
    packer_restart(writer->tables.packer, BLOCK_FRAME_CHUNK);
    session_head_put(out);
    return table_writer_begin(&writer->tables, start_us, out);
}

int session_writer_samples(struct session_writer *writer, struct bytes *out)
{
    int result = 0;

    for (int i = 0; i < KIND_COUNT && !result; i++)
        result = samples_writer_put(&writer->samples[kinds[i]], &writer->tables, out);
    return result;
}

int session_writer_live(struct session_writer *writer, struct bytes *out)
{
    struct samples_writer *live = &writer->samples[SAMPLES_OF_LIVE];
    int result = stores_show(&writer->tables.profile->stores, SAMPLES_OF_LIVE);

    if (result < 0)
        return result;
    samples_writer_again(live);
    while ((result = samples_writer_put(live, &writer->tables, out)) > 0)
        continue;
    return result;
}

int session_writer_events(struct session_writer *writer, struct bytes *out)
{
    return events_writer_put(&writer->events, &writer->tables, out);
}

int session_writer_stalls(struct session_writer *writer, struct bytes *out)
{
    return stalls_writer_put(&writer->stalls, &writer->tables, out);
}

int session_writer_tables(struct session_writer *writer, int64_t now_us, struct bytes *out)
{
    int error = table_writer_tables(&writer->tables, now_us, out);

    if (!error)
        error = loops_writer_put(&writer->loops, &writer->tables, now_us, out);
    return error ? error : facts_writer_memory(&writer->tables, now_us, out);
}

int session_writer_names(struct session_writer *writer, struct bytes *out, uint32_t *waits)
{
    int error = names_writer_put(&writer->tables, out, waits);

    return error || !writer->tables.options->sources ? error
                                                     : facts_writer_sources(&writer->tables, out);
}

int session_writer_end(struct session_writer *writer, int64_t now_us, struct bytes *out)
{
    int error = table_writer_last_tables(&writer->tables, now_us, out);

    if (!error)
        error = events_writer_open(&writer->events, &writer->tables, now_us, out);
    if (!error)
        error = stalls_writer_ongoing(&writer->tables, out);
    if (!error)
        error = loops_writer_put(&writer->loops, &writer->tables, INT64_MAX, out);
    if (error)
        return error;
    return table_writer_put(&writer->tables, "ENDS",
                            json_pack("{s:I, s:I}", "endUs", (json_int_t)now_us, "samples",
                                      (json_int_t)writer->samples[SAMPLES_OF_TIME].file_samples),
                            out);
}

uint64_t session_writer_count(const struct session_writer *writer)
{
    return writer->samples[SAMPLES_OF_TIME].samples;
}

uint64_t session_writer_event_count(const struct session_writer *writer)
{
    return writer->events.events;
}

uint64_t session_writer_missed(const struct session_writer *writer)
{
    return writer->tables.missed;
}
