#include "track.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/grow.h"

#include <string.h>

int track_new(struct track **out, struct owner *owner, int32_t tid, const char *name)
{
    struct track *track = calloc(1, sizeof(*track));

    if (!track || owner_thread_new(&track->thread, owner, tid, name) < 0) {
        free(track);
        return -ISOSCOPE_NO_MEMORY;
    }
    *out = track;
    return 0;
}

void track_unlink(struct track *track)
{
    *track->link = track->next;
    if (track->next)
        track->next->link = track->link;
}

void track_free(struct track *track)
{
    if (!track)
        return;
    while (track->open_count)
        track_pop(track);
    free(track->open);
    owner_thread_release(track->thread);
    free(track);
}

bool track_push(struct track *track, const struct event *begin)
{
    struct open_slice *slice;

    if (!GROW(track->open, track->open_count, track->open_capacity))
        return false;
    slice = &track->open[track->open_count];
    if (!begin) {
        *slice = (struct open_slice){ .unseen = true };
        track->open_count++;
        return true;
    }
    *slice = (struct open_slice){ .start_ns = begin->start_ns,
                                  .name = begin->name,
                                  .stream = begin->stream,
                                  .argument_count = begin->argument_count };
    if (begin->argument_count) {
        slice->arguments =
            event_arguments_copy(begin->arguments, begin->argument_count, NULL, 0, false);
        if (!slice->arguments)
            return false;
    }
    track->open_count++;
    return true;
}

/* What the end says of the slice, behind what its begin said. Without memory it is as it was. */
static void join_arguments(struct open_slice *slice, const struct event *end)
{
    uint32_t room = FEED_EVENT_ARGUMENTS_MAX - slice->argument_count;
    uint32_t count = end->argument_count < room ? end->argument_count : room;
    struct event_argument *joined;

    if (!count)
        return;
    joined =
        event_arguments_copy(slice->arguments, slice->argument_count, end->arguments, count, false);
    if (!joined)
        return;
    free(slice->arguments);
    slice->arguments = joined;
    slice->argument_count += count;
}

void track_top(struct track *track, const struct event *end, struct event *out)
{
    struct open_slice *slice = &track->open[track->open_count - 1];

    if (end)
        join_arguments(slice, end);
    *out = (struct event){ .kind = TIMELINE_SLICE,
                           .start_ns = slice->start_ns,
                           .name = slice->name,
                           .stream = slice->stream,
                           .argument_count = slice->argument_count,
                           .arguments = slice->arguments };
}

bool track_top_unseen(const struct track *track)
{
    return track->open[track->open_count - 1].unseen;
}

void track_pop(struct track *track)
{
    free(track->open[--track->open_count].arguments);
}

static bool same_word(const struct event_word *a, const struct event_word *b)
{
    if (a->key && b->key)
        return a->key == b->key;
    return a->bytes == b->bytes && (!a->bytes || !memcmp(a->text, b->text, a->bytes));
}

uint32_t track_inside(const struct track *track, const struct event_word *stream)
{
    for (uint32_t i = track->open_count; i-- > 0;)
        if (track->open[i].unseen || same_word(&track->open[i].stream, stream))
            return track->open_count - 1 - i;
    return UINT32_MAX;
}
