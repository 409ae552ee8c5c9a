/*
 * watcher.h - the thread (iso-loops) that looks at the loops of all programs, and knows which are late.
 *
 *   collector (a program comes, goes) -> watcher -> loop_subject.h -> loop_reports (../stalls/), loop_info
 *
 * It looks each 8 ms while a watched loop is busy, or was within a second (each 4 ms at a dispatch of more than one),
 * and sleeps when all rest. The bell
 * (outside/bell.h) wakes it; a ring that was lost is found by the collector's next round.
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds.
 * Ownership  Subjects are the watcher's; watcher_leave takes one away and frees it.
 * Threads    Any. watcher_leave returns when nobody looks at the subject any more. Reports must not call back.
 * Errors     watcher_new, watcher_start: 0 or a negative isoscope_error.
 */
#ifndef ISOSCOPE_WATCHER_H
#define ISOSCOPE_WATCHER_H

#include "../../feed/feed_reader.h"
#include "cpu_rule.h"
#include "loop_reports.h"

struct watcher;
struct loop_subject;
struct subject;

struct watcher_options {
    const struct loop_reports *reports; /* copied; NULL: nobody wants them */
    /* For tests; NULL: CLOCK_MONOTONIC, and CLOCK_BOOTTIME. */
    int64_t (*clock_ns)(void *context);
    int64_t (*boot_clock_ns)(void *context);
    void *clock_context;
};

int watcher_new(struct watcher **out, const struct watcher_options *options);
int watcher_start(struct watcher *watcher);
/* Ends the thread: there are no more looks. */
void watcher_stop(struct watcher *watcher);
/* When all subjects have left. NULL is fine. */
void watcher_free(struct watcher *watcher);

/* NULL: there is no memory. reader and wall (NULL: its threads are not looked at) outlive it. pid: as it is seen from
 * here, 0 where it is not. */
struct loop_subject *watcher_enter(struct watcher *watcher, struct feed_reader *reader,
                                   uint64_t process_id, int32_t pid, struct subject *wall);
/* What is late there has ended. NULL is fine. */
void watcher_leave(struct loop_subject *subject);
/* Another program has its pid: its threads are not looked at any more. NULL is fine. */
void watcher_pause(struct loop_subject *subject);
/* Somebody rang: looks, if a program calls. */
void watcher_wake(struct watcher *watcher);
/* The same of one program, in each round of the collector, for whom one thread calls it: where the bell was not heard,
 * for loops that are pinged, and for threads that are not watched. NULL is fine. */
void watcher_round(struct loop_subject *subject);
/* One turn of the thread; for tests, which start none. Returns when the next one is due. */
int64_t watcher_turn(struct watcher *watcher);

struct stall_settings watcher_settings(struct watcher *watcher);
/* As profile_apply_stall_settings. */
void watcher_apply(struct watcher *watcher, const struct stall_settings *settings);

/* As in stalls.h. */
size_t watcher_loops(struct watcher *watcher, uint64_t process_id, struct loop_info *out,
                     size_t capacity);
size_t watcher_unwatched(struct watcher *watcher, uint64_t process_id, struct unwatched_thread *out,
                         size_t capacity);
size_t watcher_cpu_highs(struct watcher *watcher, uint64_t since, struct cpu_high *out,
                         size_t capacity);
/* Forgets what is counted of the loops of one process (0: of all). */
void watcher_clear(struct watcher *watcher, uint64_t process_id);
/* The stacks of all its threads that sleep are taken, soon. */
void watcher_look_at_all(struct watcher *watcher, uint64_t process_id);
/* A process' clock; rule: of that process. */
void watcher_cpu(struct watcher *watcher, struct cpu_rule *rule, uint64_t process_id,
                 uint64_t cpu_ns, int64_t now_ns);

#endif
