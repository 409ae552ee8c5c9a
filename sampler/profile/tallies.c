/*
 * tallies.c - what samples there are, told without their stacks and names: for who asks often.
 */
#include "snapshot.h"

#include "../include/isoscope/isoscope.h"
#include "naming/registry.h"
#include "parts.h"
#include "store.h"

#include <stdlib.h>
#include <string.h>

struct views {
    struct store_view *list;
    uint32_t count;
};

static bool is_visible(const struct store_view *view, uint32_t sample)
{
    return sample >= view->sources[view->chunk->samples[sample].source].first_visible;
}

static int tell_tags(const struct store_view *view, const struct names *names,
                     void (*found)(void *context, const char *user_tag), void *context)
{
    bool *has_samples = calloc((size_t)view->source_count + 1, sizeof(*has_samples));

    if (!has_samples)
        return -ISOSCOPE_NO_MEMORY;
    for (uint32_t i = 0; i < view->sample_count; i++)
        has_samples[view->chunk->samples[i].source] |= is_visible(view, i);
    for (uint32_t i = 0; i < view->source_count; i++) {
        const struct view_source *source = &view->sources[i];

        if (has_samples[i])
            found(context, snapshot_user_tag(names_text(names, source->tag), source->name));
    }
    free(has_samples);
    return 0;
}

int profile_user_tags(struct profile *profile, void (*found)(void *context, const char *user_tag),
                      void *context)
{
    struct views views;
    int error = store_views(profile->store, &STORE_ASK_ALL, &views.list, &views.count, NULL);

    if (error)
        return error;
    for (uint32_t i = 0; i < views.count && !error; i++)
        error = tell_tags(&views.list[i], registry_names(profile->registry), found, context);
    store_views_free(views.list, views.count);
    return error;
}

static void count_states(const struct store_view *view, int32_t tid,
                         uint64_t counts[FEED_STATE_COUNT + 1])
{
    for (uint32_t i = 0; i < view->sample_count; i++) {
        const struct chunk_sample *sample = &view->chunk->samples[i];

        if (is_visible(view, i) && (!tid || view->sources[sample->source].tid == tid))
            counts[sample->state < FEED_STATE_COUNT ? sample->state : FEED_STATE_COUNT]++;
    }
}

int profile_states(struct profile *profile, uint64_t process_id, int32_t tid,
                   uint64_t counts[FEED_STATE_COUNT + 1])
{
    struct store_ask ask = STORE_ASK_ALL;
    struct process_info process;
    struct views views;
    int error;

    if (!profile_process(profile, process_id, &process))
        return -ISOSCOPE_NOT_FOUND;
    ask.process_id = process_id;
    error = store_views(profile->store, &ask, &views.list, &views.count, NULL);
    if (error)
        return error;
    memset(counts, 0, (FEED_STATE_COUNT + 1) * sizeof(*counts));
    for (uint32_t i = 0; i < views.count; i++)
        count_states(&views.list[i], tid, counts);
    store_views_free(views.list, views.count);
    return 0;
}
