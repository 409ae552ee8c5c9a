/*
 * library_events.h - libraries that a program has loaded and unloaded since it began, as events.
 *
 *   feed (modules, words on changes), /proc/PID/maps -> library_events -> process_events (instants of tid 0)
 *
 * A library is told when the program's sampler has met its code. That it went is seen in the maps, which are read
 * at most once a second, and only when the feed says that something was unloaded, or is mapped anew.
 *
 * Threads    Whoever holds the collector's round.
 * Errors     None: without memory or rights, what went is not told.
 */
#ifndef ISOSCOPE_LIBRARY_EVENTS_H
#define ISOSCOPE_LIBRARY_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct feed_status_view;
struct process;

/* All zeros: nothing is known yet. */
struct library_events {
    bool begun;              /* those that it began with are known */
    uint32_t modules;        /* below this number were looked at */
    uint32_t unloads, looks; /* as the feed said when the maps were last read */
    int64_t looked_us;
    uint8_t *gone; /* by module: 1: it was told that it went */
    uint32_t gone_room;
};

void library_events_tell(struct process *process, const struct feed_status_view *status,
                         int64_t now_us);
void library_events_free(struct library_events *libraries);

#endif
