/*
 * sampling_events.h - what the service sees of a process, as events of that process: when it came and
 * ended, its threads and libraries, how it is sampled, what was lost.
 *
 *   collector, drain (each round) -> sampling_events -> process_events (instants of tid 0)
 *
 * Units      *_us: CLOCK_MONOTONIC microseconds.
 * Threads    Whoever holds the collector's round.
 */
#ifndef ISOSCOPE_SAMPLING_EVENTS_H
#define ISOSCOPE_SAMPLING_EVENTS_H

#include "../../feed/feed_reader.h"
#include "library_events.h"

struct process;

/* What was told of it last. All zeros: nothing yet. */
struct sampling_told {
    bool attached, came, enabled;
    struct library_events libraries;
    enum feed_mode mode;
    enum feed_timer timer;
    uint32_t period_us;
    uint64_t lost[FEED_LOSS_COUNT];
    uint32_t runtimes, unknown_runtimes; /* 1 << feed_runtime_kind */
    int64_t lost_us;                     /* when losses were last told: once a second */
};

/* That it is there; before all others. */
void sampling_events_attach(struct process *process);
/* A thread besides the main one began or ended. */
void sampling_events_thread(struct process *process, const struct feed_thread_view *view,
                            bool ended, int64_t at_us);
/* Tells what is new. ended: nothing more will be told. */
void sampling_events_tell(struct process *process, const struct feed_settings *settings, bool ended,
                          int64_t now_us);

#endif
