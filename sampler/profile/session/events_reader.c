#include "events_reader.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/grow.h"
#include "../events/event_store.h"
#include "../intake/processes.h"

#include <stdlib.h>

void events_reader_outline(struct session_reader *reader, struct entry *entry)
{
    event_outline_free(&reader->outline);
    event_outline_read(entry, &reader->outline);
    for (uint32_t i = 0; i < reader->outline.source_count && !entry->bad; i++)
        if (!map64_find(&reader->threads, reader->outline.sources[i].thread))
            entry_fail(entry, "thread %u is not there", reader->outline.sources[i].thread);
    reader->events_expected = true;
}

/* The thread in the store of events; NULL: no memory. */
static struct owner_thread *thread_of(struct session_reader *reader, uint32_t number)
{
    uint32_t place = map64_find(&reader->threads, number);
    struct reader_thread *thread = &reader->thread_list[place - 1];
    const struct owner_thread *known = thread->of[SAMPLES_OF_TIME];

    if (!thread->events) {
        struct owner *owner =
            processes_event_owner(reader->profile->processes, known->owner->process_id);

        if (!owner || owner_thread_new(&thread->events, owner, known->tid, known->name) < 0)
            return NULL;
    }
    return thread->events;
}

/* In microseconds that end with it, aligned. */
static int64_t aligned_ns(const struct session_reader *reader, int64_t ns)
{
    int64_t aligned = ns + reader->archive->shift_us * 1000;

    return aligned > 0 ? aligned : 0;
}

/* False: no memory. */
static bool fill_sources(struct session_reader *reader, struct event_chunk *chunk, uint32_t *counts)
{
    const struct event_outline *outline = &reader->outline;

    for (uint32_t i = 0; i < outline->source_count; i++) {
        chunk->sources[i].thread = thread_of(reader, outline->sources[i].thread);
        if (!chunk->sources[i].thread)
            return false;
        counts[i] = outline->sources[i].events;
    }
    chunk->source_count = outline->source_count;
    return true;
}

static int add_chunk(struct session_reader *reader)
{
    const struct event_outline *outline = &reader->outline;
    struct event_chunk chunk = {
        .base_ns = aligned_ns(reader, outline->first_ns),
        .first_ns = aligned_ns(reader, outline->first_ns),
        .last_ns = aligned_ns(reader, outline->last_ns),
        .count = outline->events,
        .archive = &reader->archive->event_archive,
        .archive_number = reader->archive->event_count,
    };
    uint32_t *counts = calloc(outline->source_count + 1u, sizeof(*counts));
    int error = -ISOSCOPE_NO_MEMORY;

    chunk.sources = calloc(outline->source_count + 1u, sizeof(*chunk.sources));
    if (counts && chunk.sources && fill_sources(reader, &chunk, counts))
        error = event_store_add_archived(reader->profile->events, &chunk, counts);
    else
        free(chunk.sources);
    free(counts);
    return error;
}

int events_reader_events(struct session_reader *reader, const struct block_place *place)
{
    struct session_archive *archive = reader->archive;
    int error;

    if (!reader->events_expected)
        return session_problem(reader->problem, place->position,
                               "block 'EVNT' has no 'EVTS' before it");
    reader->events_expected = false;
    if (!GROW(archive->events, archive->event_count, archive->event_capacity))
        return -ISOSCOPE_NO_MEMORY;
    error = add_chunk(reader);
    if (error)
        return error;
    reader->events += reader->outline.events;
    if (aligned_ns(reader, reader->outline.last_ns) / 1000 > reader->end_us)
        reader->end_us = aligned_ns(reader, reader->outline.last_ns) / 1000;
    archive->events[archive->event_count++] = (struct archived_events){ reader->outline, *place };
    reader->outline = (struct event_outline){ 0 };
    return 0;
}
