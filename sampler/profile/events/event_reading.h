/*
 * event_reading.h - the events of a store's views, one after the other, or from any place on.
 *
 *   event_store_views -> event_reading -> view/timeline, session/events_writer
 *
 * Threads    One reader per event_reading. Views need no lock.
 */
#ifndef ISOSCOPE_EVENT_READING_H
#define ISOSCOPE_EVENT_READING_H

#include "event_store.h"

/* A place among the events: a view, and an event of it. */
#define EVENT_PLACE(view, event) ((uint64_t)(view) << 32 | (uint32_t)(event))
#define EVENT_PLACE_VIEW(place)  ((uint32_t)((place) >> 32))
#define EVENT_PLACE_EVENT(place) ((uint32_t)(place))

struct event_reading {
    uint64_t place;
    uint32_t words; /* where those of the event begin, or: */
};
enum { EVENT_WORDS_UNKNOWN = UINT32_MAX };

/* Which are asked for, besides what the views were asked for. */
struct event_filter {
    bool bounded;
    int64_t first_ns, last_ns; /* bounded: what overlaps it; both belong to it */
    uint32_t kinds;            /* 1 << timeline_kind; 0: all */
};

/* Goes to the next event that is asked for, the one at its place or behind it; false: there is none
 * before the end. damaged becomes true where a view cannot be read, which is passed. */
bool event_reading_find(const struct event_views *views, const struct event_filter *filter,
                        struct event_reading *reading, uint64_t end, bool *damaged);
/* Past the event that was found. */
void event_reading_pass(const struct event_views *views, struct event_reading *reading);
/* The same, and says what it is. */
void event_reading_take(const struct event_views *views, struct event_reading *reading,
                        struct timeline_event *out);
/* What stands open, as a slice until now. */
void event_open_show(const struct event_open *open, int64_t now_ns, struct timeline_event *out);

#endif
