/*
 * loop_reports.h - what the watcher of loops says, and whom it says it to.
 *
 *   watcher (its thread, each look) -> loop_reports (functions of stalls/stall_log.h) -> teller
 *
 * Of one dispatch that is late, in this order: armed once; reached for each level from STALL on; looked any
 * number of times; then ended or dismissed. A dispatch that ends before it reaches STALL is dismissed.
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds.
 * Threads    The watcher's. They return soon: nobody looks at other loops meanwhile.
 * Ownership  What is pointed to lives until the call returns.
 */
#ifndef ISOSCOPE_LOOP_REPORTS_H
#define ISOSCOPE_LOOP_REPORTS_H

#include "../stalls.h"

/* A dispatch that is, or was, late. */
struct late_dispatch {
    uint64_t process_id;
    uint32_t loop; /* loop_info.number */
    uint64_t mark; /* of the feed: with the loop, it says which dispatch */
    int32_t tid;
    const char *name, *thread_name;
    int64_t limit_ns;                         /* of STALL */
    struct stall_range start_ns, duration_ns; /* duration: so far, or its end's */
    const struct stall_evidence *evidence;
    enum stall_cause cause;
};

struct loop_reports {
    void *context;
    /* 0.8 of the stall limit has passed. */
    void (*armed)(void *context, const struct late_dispatch *late);
    void (*reached)(void *context, const struct late_dispatch *late, enum stall_level level);
    /* The thread was looked at again: there is more evidence, and perhaps another stack. */
    void (*looked)(void *context, const struct late_dispatch *late);
    void (*ended)(void *context, const struct late_dispatch *late);
    /* It was none: the machine or the program was suspended or stopped, a debugger came, the process ended. */
    void (*dismissed)(void *context, const struct late_dispatch *late);
    void (*cpu_high)(void *context, const struct cpu_high *high);
};

#endif
