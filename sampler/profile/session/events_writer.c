#include "events_writer.h"

#include "../../include/isoscope/isoscope.h"
#include "../events/event_reading.h"

void events_writer_free(struct events_writer *writer)
{
    event_writing_free(&writer->writing);
}

/* What the events need stands before them. */
static int put_blocks(struct events_writer *writer, struct table_writer *tables, struct bytes *out)
{
    int error = table_writer_before_samples(tables, out);

    if (error)
        return error;
    bytes_clear(&tables->content);
    entry_dump(event_columns_outline(&writer->writing), &tables->content);
    error = packer_block(tables->packer, out, "EVTS", BLOCK_FRAME_OWN, &tables->content);
    if (error)
        return error;
    bytes_clear(&tables->content);
    event_columns_end(&writer->writing, &tables->content);
    return packer_block(tables->packer, out, "EVNT", BLOCK_FRAME_OWN, &tables->content);
}

static int put_if_any(struct events_writer *writer, struct table_writer *tables, struct bytes *out)
{
    size_t before = out->count;
    int error = writer->writing.outline.events ? put_blocks(writer, tables, out) : 0;

    if (error)
        out->count = before;
    else
        writer->events += writer->writing.outline.events;
    return error;
}

static struct owner_thread *thread_at(const struct event_views *views,
                                      const struct event_reading *reading)
{
    const struct event_chunk *chunk = views->views[EVENT_PLACE_VIEW(reading->place)].chunk;

    return chunk->sources[chunk->entries[EVENT_PLACE_EVENT(reading->place)].source].thread;
}

/* Until the block is full, or the view ends. */
static int fill(struct events_writer *writer, struct table_writer *tables,
                const struct event_views *views, struct event_reading *reading, uint64_t end)
{
    const struct event_filter all = { 0 };
    bool damaged = false;

    event_columns_begin(&writer->writing);
    while (!event_columns_full(&writer->writing) &&
           event_reading_find(views, &all, reading, end, &damaged)) {
        const struct owner_thread *owner = thread_at(views, reading);
        struct timeline_event event;
        uint32_t thread;

        event_reading_take(views, reading, &event);
        thread = table_writer_thread(tables, owner, event.thread_name);
        if (!thread || !event_columns_add(&writer->writing, thread, &event))
            return -ISOSCOPE_NO_MEMORY;
    }
    return damaged ? -ISOSCOPE_DAMAGED : 0;
}

/* The first view with something new; UINT32_MAX: there is none. */
static uint32_t first_new(const struct events_writer *writer, const struct event_views *views)
{
    for (uint32_t i = 0; i < views->count; i++)
        if (views->views[i].chunk->serial != writer->chunk || views->views[i].count > writer->event)
            return i;
    return UINT32_MAX;
}

static void move_to(struct events_writer *writer, struct table_writer *tables,
                    const struct event_chunk *chunk)
{
    if (writer->chunk == chunk->serial)
        return;
    /* Of a save nothing was told before: what is not there is not missed. */
    if (tables->recording && chunk->first_sequence > writer->sequence)
        tables->events_missed += chunk->first_sequence - writer->sequence;
    writer->chunk = chunk->serial;
    writer->event = 0;
}

static int put_view(struct events_writer *writer, struct table_writer *tables,
                    const struct event_views *views, uint32_t number, struct bytes *out)
{
    const struct event_view *view = &views->views[number];
    struct event_reading reading;
    int error;

    move_to(writer, tables, view->chunk);
    reading = (struct event_reading){ EVENT_PLACE(number, writer->event), EVENT_WORDS_UNKNOWN };
    error = fill(writer, tables, views, &reading, EVENT_PLACE(number, view->count));
    if (!error)
        error = put_if_any(writer, tables, out);
    /* What was written is in the file, or lost to it: one way or the other it is passed. */
    tables->events_missed += error ? writer->writing.outline.events : 0;
    writer->event =
        EVENT_PLACE_VIEW(reading.place) == number ? EVENT_PLACE_EVENT(reading.place) : view->count;
    writer->sequence = view->chunk->first_sequence + writer->event;
    return error;
}

int events_writer_put(struct events_writer *writer, struct table_writer *tables, struct bytes *out)
{
    struct event_ask ask = EVENT_ASK_ALL;
    struct event_views views;
    uint32_t number;
    int error;

    ask.serial_min = writer->chunk;
    error = event_store_views(tables->profile->events, &ask, &views);
    if (error)
        return error;
    number = first_new(writer, &views);
    if (number != UINT32_MAX)
        error = put_view(writer, tables, &views, number, out);
    event_views_free(&views);
    return error ? error : number != UINT32_MAX;
}

int events_writer_open(struct events_writer *writer, struct table_writer *tables, int64_t now_us,
                       struct bytes *out)
{
    struct event_ask ask = EVENT_ASK_ALL;
    struct event_views views;
    int error;

    ask.open = true;
    ask.serial_min = UINT64_MAX;
    error = event_store_views(tables->profile->events, &ask, &views);
    if (error)
        return error;
    event_columns_begin(&writer->writing);
    for (uint32_t i = 0; i < views.open_count && !error; i++) {
        const struct event_open *open = &views.open[i];
        uint32_t thread = table_writer_thread(tables, open->thread, open->thread_name);
        struct timeline_event event;

        event_open_show(open, now_us * 1000, &event);
        if (!thread || !event_columns_add(&writer->writing, thread, &event))
            error = -ISOSCOPE_NO_MEMORY;
        if (event_columns_full(&writer->writing) && !error) {
            error = put_if_any(writer, tables, out);
            event_columns_begin(&writer->writing);
        }
    }
    if (!error)
        error = put_if_any(writer, tables, out);
    event_views_free(&views);
    return error;
}
