/*
 * late_thread.h - the thread of a loop that is late, looked at from outside until the dispatch ends.
 *
 *   watcher (when) -> late_thread_look -> wall/sleeper.h: the kernel's clocks of it, the call it sleeps in
 *     -> its stack, where it sleeps -> ring 0 (FEED_KIND_STALL) -> drain.h -> the store of SAMPLES_OF_STALLS
 *     -> stall_looks -> stall_cause.h
 *
 * Nobody is signalled. Where a running thread is its own ticks say, which are in the store of SAMPLES_OF_TIME; that
 * it ran, and for how long, the kernel's clocks say. One that sleeps where it slept at the look before is told again
 * with the stack that was walked then. Who holds the lock that it waits for is told with its stack too.
 *
 * Evidence begins at late_thread_begin, which reads two files: begin early (at the jank limit, say), and look when it
 * is worth it.
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds.
 * Ownership  All zeros is no thread; late_thread_end gives back what one holds. Some kilobytes: make one when a loop
 *            is late, and not for each loop. The subject lives longer.
 * Threads    One at a time; looks take the lock of the rounds, as ring 0 is theirs.
 * Errors     late_thread_begin: 0 or -ISOSCOPE_NOT_FOUND (no such thread, or the program is gone). What cannot be
 *            read is left out of the evidence, and samples that find no room are counted in the feed.
 */
#ifndef ISOSCOPE_LATE_THREAD_H
#define ISOSCOPE_LATE_THREAD_H

#include "../stalls.h"
#include "../wall/sleeper.h"
#include "late_clock.h"
#include "late_waits.h"
#include "stall_cause.h"

struct subject;

/* What a look saw. */
enum late_sight {
    LATE_RUNS, /* or wants to */
    LATE_SLEEPS,
    LATE_STOPPED, /* by a signal */
    LATE_TRACED,  /* a debugger is attached, whether it runs or not */
    LATE_GONE,
};

struct late_thread {
    struct subject *subject; /* NULL: no thread */
    uint32_t slot;           /* 0: not known: no sample can be told */
    struct sleeper sleeper, holder;
    struct task_kept stat_file, status_file;
    int64_t tracer_ns; /* when it was last looked for one */
    bool traced;
    uint64_t faults_before; /* at the beginning */
    struct late_clock clock;
    /* Where it sleeps, while its clocks stand as in slept_at. */
    bool asleep; /* at the last look */
    struct thread_clock slept_at;
    struct blocked blocked;
    struct feed_sample *stack; /* NULL: none was ever walked */
    bool stack_holds;          /* it is the one there */
    struct late_waits waits;
    int64_t holder_ns; /* when the lock's holder was last looked at */
    struct stall_looks looks;
    struct stall_evidence evidence;
};

/* slot: of its thread in the feed; 0: not known. tid: as the program numbers it. since_ns: now. */
int late_thread_begin(struct late_thread *late, struct subject *subject, uint32_t slot, int32_t tid,
                      int64_t since_ns);
enum late_sight late_thread_look(struct late_thread *late, int64_t now_ns);
/* Until the next look. host_late_ns is 0: that is for who knows it. */
const struct stall_evidence *late_thread_evidence(const struct late_thread *late);
/* duration_ns: of the dispatch. host_late_ns: that the watcher's own looks came too late in it. */
enum stall_cause late_thread_cause(const struct late_thread *late, int64_t duration_ns,
                                   uint64_t host_late_ns);
void late_thread_end(struct late_thread *late);

#endif
