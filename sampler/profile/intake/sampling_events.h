/*
 * sampling_events.h - what the service does to a process, as events of that process: when it came and
 * ended, how it is sampled, what was lost.
 *
 *   collector (each round) -> sampling_events -> process_events (instants of tid 0)
 *
 * Units      *_us: CLOCK_MONOTONIC microseconds.
 * Threads    Whoever holds the collector's round.
 */
#ifndef ISOSCOPE_SAMPLING_EVENTS_H
#define ISOSCOPE_SAMPLING_EVENTS_H

#include "../../feed/feed_reader.h"

struct process;

/* What was told of it last. All zeros: nothing yet. */
struct sampling_told {
    bool came, enabled;
    enum feed_mode mode;
    enum feed_timer timer;
    uint32_t period_us;
    uint64_t lost[FEED_LOSS_COUNT];
    int64_t lost_us; /* when losses were last told: once a second */
};

/* Tells what is new. ended: nothing more will be told. */
void sampling_events_tell(struct process *process, const struct feed_settings *settings, bool ended,
                          int64_t now_us);

#endif
