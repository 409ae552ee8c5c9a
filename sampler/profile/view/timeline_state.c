/* What is recorded and missing of all events, without reading any: session files have it, too. */
#include "../timeline.h"

#include "../events/event_store.h"
#include "../events/streams.h"
#include "../intake/processes.h"
#include "../parts.h"

size_t profile_timeline_streams(struct profile *profile, const char **out, size_t capacity)
{
    return streams_list(profile->streams, out, capacity);
}

bool profile_timeline_records(struct profile *profile, const char *stream)
{
    return streams_recorded(profile->streams, stream);
}

struct timeline_history profile_timeline_history(struct profile *profile)
{
    struct timeline_history history = event_store_history(profile->events);

    history.lost = processes_lost_events(profile->processes);
    return history;
}
