/*
 * late_thread.h - the thread of a loop that is late, looked at from outside until the dispatch ends.
 *
 *   watcher (when) -> late_thread_look -> wall/sleeper.h: the kernel's clocks of it, the call it sleeps in
 *     -> its stack, where it sleeps -> ring 0 (FEED_KIND_STALL) -> drain.h -> the store of SAMPLES_OF_STALLS
 *     -> stall_looks -> stall_cause.h
 *
 * Nobody is signalled. Where a running thread is its own ticks say, which are in the store of SAMPLES_OF_TIME; that
 * it ran, and for how long, the kernel's clocks say. A look costs about 10 us when the thread runs or sleeps on,
 * 50 us when its stack is walked.
 *
 * Evidence begins at late_thread_begin: begin early (at the jank limit, say), and look when it is worth it.
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds.
 * Ownership  All zeros is no thread; late_thread_end gives back what one holds. The subject lives longer.
 * Threads    One at a time; looks take the lock of the rounds, as ring 0 is theirs.
 * Errors     late_thread_begin: 0 or -ISOSCOPE_NOT_FOUND (no such thread, or the program is gone). What cannot be
 *            read is left out of the evidence, and samples that find no room are counted in the feed.
 */
#ifndef ISOSCOPE_LATE_THREAD_H
#define ISOSCOPE_LATE_THREAD_H

#include "../stalls.h"
#include "../wall/shares.h"
#include "../wall/sleeper.h"
#include "late_waits.h"
#include "stall_cause.h"

struct subject;

/* What a look saw. */
enum late_sight {
    LATE_RUNS, /* or wants to */
    LATE_SLEEPS,
    LATE_STOPPED, /* by a signal */
    LATE_TRACED,  /* a debugger is attached, stopped or not */
    LATE_GONE,
};

struct late_thread {
    struct subject *subject; /* NULL: no thread */
    uint32_t slot;           /* 0: not known: no sample can be told */
    int64_t since_ns;        /* evidence begins here */
    int64_t looked_ns;
    int64_t moved_ns; /* when its clocks stood, or it slept, last */
    bool has_clock;
    struct thread_clock first, clock;
    uint64_t first_faults;
    struct sleeper thread, holder;
    struct late_waits waits;
    struct stall_looks looks;
    struct stall_evidence evidence;
    /* Its stack, where it sleeps while its clocks stand. */
    struct late_stack {
        struct feed_sample *sample; /* NULL: none was walked yet */
        struct thread_clock clock;
        bool stands;
    } stack;
};

/* slot: of its thread in the feed; 0: not known. tid: as the program sees it. since_ns: now. */
int late_thread_begin(struct late_thread *late, struct subject *subject, uint32_t slot, int32_t tid,
                      int64_t since_ns);
/* An earlier reading of its clocks, where there is one: evidence begins there. */
void late_thread_began_at(struct late_thread *late, const struct thread_clock *clock,
                          int64_t since_ns);
enum late_sight late_thread_look(struct late_thread *late, int64_t now_ns);
/* Until the next look. */
const struct stall_evidence *late_thread_evidence(const struct late_thread *late);
/* duration_ns: of the dispatch. host_late_ns: that the watcher's own looks came too late in it. */
enum stall_cause late_thread_cause(const struct late_thread *late, int64_t duration_ns,
                                   uint64_t host_late_ns);
void late_thread_end(struct late_thread *late);

/* A full look: one sample (FEED_KIND_STALL) of each thread of the program that sleeps, of LATE_THREADS_MAX at most.
 * Returns how many were told. The watcher calls it when a report (loop_reports.h) asks for it. */
enum { LATE_THREADS_MAX = 64 };
int late_all_threads(struct subject *subject, int64_t now_ns);

#endif
