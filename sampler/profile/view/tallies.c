/*
 * tallies.c - what samples there are, told without their stacks and names: for who asks often.
 */
#include "../snapshot.h"

#include "../../include/isoscope/isoscope.h"
#include "../intake/processes.h"
#include "../naming/registry.h"
#include "../parts.h"
#include "../store/store.h"

#include <string.h>

struct views {
    struct store_view *list;
    uint32_t count;
};

/* Those of sources with a sample that was not cleared. */
static void tell_tags(const struct store_view *view, const struct names *names,
                      void (*found)(void *context, const char *user_tag), void *context)
{
    for (uint32_t i = 0; i < view->source_count; i++) {
        const struct view_source *source = &view->sources[i];

        if (source->last >= source->first_visible)
            found(context, snapshot_user_tag(names_text(names, source->tag), source->name));
    }
}

int profile_user_tags(struct profile *profile, void (*found)(void *context, const char *user_tag),
                      void *context)
{
    struct views views;
    int error = store_views(profile->stores.of[SAMPLES_OF_TIME], &STORE_ASK_ALL, &views.list,
                            &views.count, NULL);

    if (error)
        return error;
    for (uint32_t i = 0; i < views.count; i++)
        tell_tags(&views.list[i], registry_names(profile->registry), found, context);
    store_views_free(views.list, views.count);
    return 0;
}

int profile_states(struct profile *profile, uint64_t process_id, int32_t tid,
                   uint64_t counts[FEED_STATE_COUNT + 1])
{
    uint64_t states[OWNER_STATES];

    if (!processes_states(profile->processes, process_id, tid, states))
        return -ISOSCOPE_NOT_FOUND;
    memset(counts, 0, (FEED_STATE_COUNT + 1) * sizeof(*counts));
    for (int state = 0; state < OWNER_STATES; state++)
        counts[state < FEED_STATE_COUNT ? state : FEED_STATE_COUNT] += states[state];
    return 0;
}
