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

struct collector;

struct collector_options {
    struct processes *processes;
    struct store *store;
    struct registry *registry;
    struct namer *namer;
    void (*changed)(void *context); /* a process came or ended, or losses grew; NULL is fine */
    void *context;
};

int collector_new(struct collector **out, const struct collector_options *options);
/* Ends its thread; drains nothing. NULL is fine. */
void collector_free(struct collector *collector);
/* From now on a thread of its own runs the rounds. */
int collector_start(struct collector *collector);

/* As profile_attach. */
int collector_attach(struct collector *collector, int memfd, const struct profile_peer *peer,
                     uint64_t *process_id);
/* Something happened: the next round may begin. */
void collector_wake(struct collector *collector);
/* now_us: samples up to then are taken, later ones stay for the next round. */
void collector_round(struct collector *collector, int64_t now_us);
/* Returns after a round that began after the call. */
void collector_sync(struct collector *collector);

#endif
