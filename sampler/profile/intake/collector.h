/*
 * collector.h - the rounds that empty the feeds of all processes into the store.
 *
 *   profile_attach -> collector (every 10 ms: drain, who has ended, store) -> snapshot
 *
 * Units      *_us: CLOCK_MONOTONIC microseconds.
 * Ownership  The collector borrows everything in its options.
 * Threads    Any. One round runs at a time.
 * Errors     0 or a negative isoscope_error.
 */
#ifndef ISOSCOPE_COLLECTOR_H
#define ISOSCOPE_COLLECTOR_H

#include "processes.h"

#include <stdbool.h>

struct collector;
struct event;

struct collector_options {
    struct processes *processes;
    const struct stores *stores;
    struct event_store *events;
    struct streams *streams;
    struct registry *registry;
    struct symbolizer *symbolizer;
    struct table_store *tables;    /* NULL: no program gets any */
    struct runtime_finder *finder; /* NULL: no runtime is looked for */
    struct rounds *rounds;         /* NULL: there is no wall mode */
    struct watcher *watcher;       /* NULL: loops are not watched */
    /* A process came or ended, losses grew, or (collector_follow) there are samples or events; NULL is fine.
     */
    void (*changed)(void *context);
    void *context;
};

int collector_new(struct collector **out, const struct collector_options *options);
/* Ends its thread: there are no more rounds. */
void collector_stop(struct collector *collector);
/* Ends its thread, too; drains nothing. NULL is fine. */
void collector_free(struct collector *collector);
/* From now on a thread of its own runs the rounds. */
int collector_start(struct collector *collector);

/* As profile_attach. */
int collector_attach(struct collector *collector, int memfd, const struct profile_peer *peer,
                     uint64_t *process_id);
/* As profile_exited. */
void collector_exited(struct collector *collector, const struct profile_exit *end);
/* Whether changed is called for samples too: within FOLLOW_US of them, not more often. */
enum { FOLLOW_US = 250000 };
void collector_follow(struct collector *collector, bool follows);
/* Something happened: the next round may begin. */
void collector_wake(struct collector *collector);
/* An event of a thread that the service itself tells of. Without memory, or without the process, it is left
 * out. */
void collector_put_event(struct collector *collector, uint64_t process_id, int32_t tid,
                         const char *thread_name, const struct event *event);
/* now_us: samples up to then are taken, later ones stay for the next round. */
void collector_round(struct collector *collector, int64_t now_us);
/* Returns after a round that began after the call. */
void collector_sync(struct collector *collector);

#endif
