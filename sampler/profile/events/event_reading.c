#include "event_reading.h"

#include "event_words.h"

/* The words of the event begin where those of its block do, and those before it end. */
static uint32_t find_words(const struct event_chunk *chunk, uint32_t number)
{
    uint32_t first = number - number % EVENT_BLOCK;
    uint32_t words = chunk->blocks[first / EVENT_BLOCK].words;

    for (uint32_t i = first; i < number; i++)
        if (EVENT_WORDS(chunk->entries[i].what))
            words += event_words_count(chunk->words + words);
    return words;
}

static bool lasts(const struct event_entry *entry)
{
    return EVENT_KIND(entry->what) == TIMELINE_SLICE || EVENT_KIND(entry->what) == TIMELINE_FRAME;
}

/* Its start and end. */
static void span_of(const struct event_chunk *chunk, const struct event_entry *entry,
                    const uint64_t *words, int64_t *start_ns, int64_t *end_ns)
{
    int64_t behind = (int64_t)((uint64_t)(int64_t)entry->start_high << 32 | entry->start_low);
    struct event_extra extra = { 0 };

    if (words)
        event_words_read(words, &extra);
    *start_ns = extra.wide ? extra.start_ns : chunk->base_ns + behind;
    *end_ns = *start_ns;
    if (lasts(entry))
        *end_ns += (int64_t)(extra.wide ? extra.duration_ns : entry->duration);
}

static bool overlaps(const struct event_filter *filter, int64_t first_ns, int64_t last_ns)
{
    return first_ns <= filter->last_ns && last_ns >= filter->first_ns;
}

static bool is_asked(const struct event_filter *filter, const struct event_view *view,
                     uint32_t number, const uint64_t *words)
{
    const struct event_entry *entry = &view->chunk->entries[number];
    int64_t start_ns, end_ns;

    if (number < view->sources[entry->source].first_visible ||
        (filter->kinds && !(filter->kinds >> EVENT_KIND(entry->what) & 1)))
        return false;
    if (!filter->bounded)
        return true;
    span_of(view->chunk, entry, words, &start_ns, &end_ns);
    return overlaps(filter, start_ns, end_ns);
}

/* A full block that lies outside is passed as a whole. */
static bool is_outside(const struct event_filter *filter, const struct event_view *view,
                       uint32_t number)
{
    const struct event_block *block = &view->chunk->blocks[number / EVENT_BLOCK];

    return filter->bounded && number % EVENT_BLOCK == 0 && number + EVENT_BLOCK <= view->count &&
           !overlaps(filter, block->first_ns, block->last_ns);
}

/* Goes to the next event of the view that is asked for, from the reading's place on. */
static bool find_in_view(const struct event_filter *filter, const struct event_view *view,
                         struct event_reading *reading, uint32_t end)
{
    uint32_t number = EVENT_PLACE_EVENT(reading->place);
    bool found = false;

    if (reading->words == EVENT_WORDS_UNKNOWN)
        reading->words = find_words(view->chunk, number);
    while (number < end && !found) {
        if (is_outside(filter, view, number)) {
            number += EVENT_BLOCK;
            if (number < end)
                reading->words = view->chunk->blocks[number / EVENT_BLOCK].words;
            continue;
        }
        const struct event_entry *entry = &view->chunk->entries[number];
        const uint64_t *words =
            EVENT_WORDS(entry->what) ? view->chunk->words + reading->words : NULL;

        found = is_asked(filter, view, number, words);
        if (found)
            break;
        reading->words += words ? event_words_count(words) : 0;
        number++;
    }
    reading->place = EVENT_PLACE(EVENT_PLACE_VIEW(reading->place), number);
    return found;
}

bool event_reading_find(const struct event_views *views, const struct event_filter *filter,
                        struct event_reading *reading, uint64_t end, bool *damaged)
{
    while (EVENT_PLACE_VIEW(reading->place) < views->count && reading->place < end) {
        uint32_t number = EVENT_PLACE_VIEW(reading->place);
        const struct event_view *view = &views->views[number];
        uint32_t last = EVENT_PLACE_VIEW(end) == number ? EVENT_PLACE_EVENT(end) : view->count;
        bool there = EVENT_PLACE_EVENT(reading->place) < last;

        if (there && event_view_load(view) < 0)
            *damaged = true;
        else if (there && find_in_view(filter, view, reading, last))
            return true;
        if (EVENT_PLACE_VIEW(end) == number)
            break;
        *reading = (struct event_reading){ EVENT_PLACE(number + 1, 0), 0 };
    }
    return false;
}

static void fill_arguments(const struct event_chunk *chunk, const struct event_extra *extra,
                           struct timeline_event *out)
{
    out->argument_count = extra->argument_count;
    for (uint32_t i = 0; i < extra->argument_count; i++) {
        const struct event_extra_argument *from = &extra->arguments[i];
        struct timeline_argument *to = &out->arguments[i];

        to->name = event_chunk_text(chunk, from->name);
        to->type = (enum feed_argument_type)from->type;
        if (to->type == FEED_ARGUMENT_TEXT)
            to->text = event_chunk_text(chunk, (uint16_t)from->word);
        else
            to->count = from->word; /* the bits of any of them */
    }
}

static uint32_t fill_event(const struct event_view *view, uint32_t number, const uint64_t *words,
                           struct timeline_event *out)
{
    const struct event_chunk *chunk = view->chunk;
    const struct event_entry *entry = &chunk->entries[number];
    const struct event_view_source *source = &view->sources[entry->source];
    struct event_extra extra = { 0 };
    uint32_t count = words ? event_words_read(words, &extra) : 0;
    int64_t end_ns;

    out->kind = EVENT_KIND(entry->what);
    out->mark = EVENT_MARK(entry->what);
    out->complete = EVENT_COMPLETE(entry->what);
    span_of(chunk, entry, words, &out->start_ns, &end_ns);
    out->duration_ns = (uint64_t)(end_ns - out->start_ns);
    out->id = extra.has_id ? extra.id : lasts(entry) ? 0 : entry->duration;
    out->process_id = source->process_id;
    out->tid = source->tid;
    out->thread_name = source->name;
    out->name = event_chunk_text(chunk, entry->name);
    out->stream = event_chunk_text(chunk, chunk->sources[entry->source].stream);
    out->depth = extra.has_depth ? extra.depth : entry->depth;
    fill_arguments(chunk, &extra, out);
    return count;
}

static const struct event_view *view_at(const struct event_views *views,
                                        const struct event_reading *reading)
{
    return &views->views[EVENT_PLACE_VIEW(reading->place)];
}

static const uint64_t *words_at(const struct event_view *view, const struct event_reading *reading)
{
    const struct event_chunk *chunk = view->chunk;

    return EVENT_WORDS(chunk->entries[EVENT_PLACE_EVENT(reading->place)].what)
               ? chunk->words + reading->words
               : NULL;
}

void event_reading_pass(const struct event_views *views, struct event_reading *reading)
{
    const uint64_t *words = words_at(view_at(views, reading), reading);

    reading->words += words ? event_words_count(words) : 0;
    reading->place++;
}

void event_reading_take(const struct event_views *views, struct event_reading *reading,
                        struct timeline_event *out)
{
    const struct event_view *view = view_at(views, reading);

    reading->words +=
        fill_event(view, EVENT_PLACE_EVENT(reading->place), words_at(view, reading), out);
    reading->place++;
}

void event_open_show(const struct event_open *open, int64_t now_ns, struct timeline_event *out)
{
    const struct event *slice = &open->slice;

    *out = (struct timeline_event){ .kind = TIMELINE_SLICE,
                                    .mark = TIMELINE_OPEN,
                                    .start_ns = slice->start_ns,
                                    .process_id = open->process_id,
                                    .tid = open->tid,
                                    .thread_name = open->thread_name,
                                    .name = slice->name.text,
                                    .stream = slice->stream.text,
                                    .depth = open->depth,
                                    .argument_count = slice->argument_count };
    if (now_ns > slice->start_ns)
        out->duration_ns = (uint64_t)(now_ns - slice->start_ns);
    for (uint32_t i = 0; i < slice->argument_count; i++) {
        const struct event_argument *from = &slice->arguments[i];

        out->arguments[i].name = from->name.text;
        out->arguments[i].type = from->type;
        if (from->type == FEED_ARGUMENT_TEXT)
            out->arguments[i].text = from->text.text;
        else
            out->arguments[i].count = from->word;
    }
}
