/*
 * tagged_samples.h - CpuSamples events: the samples with the user tags that a client asked for.
 *
 *   store -> snapshot since the client's cursor -> one event for each process -> outbox
 *
 * A client gets a sample once at most, in the order of arrival, and first those that are there
 * already. An event has at most TAGGED_SAMPLES_MAX samples; while TAGGED_BYTES_MAX wait for a
 * client, it gets no more: who reads slowly is behind, and misses what the store lets go of
 * meanwhile.
 *
 * The events' table of functions only grows, so that an index means the same in each: the Dart
 * Development Service counts on that. Beyond TAGGED_FUNCTIONS_MAX it begins anew.
 *
 * Threads    The service thread.
 * Errors     Out of memory: what could not be sent comes with a later event.
 */
#ifndef ISOSCOPE_TAGGED_SAMPLES_H
#define ISOSCOPE_TAGGED_SAMPLES_H

#include <jansson.h>
#include <stdbool.h>

struct client;
struct tagged_samples;

enum {
    TAGGED_SAMPLES_MAX = 1000,
    TAGGED_BYTES_MAX = 1024 * 1024,
    TAGGED_FUNCTIONS_MAX = 16384,
};

struct tagged_samples *tagged_samples_new(void); /* NULL: out of memory */
/* tags: a list of texts, held; an empty one ends it. 0 or -ISOSCOPE_NO_MEMORY. */
int tagged_samples_want(struct client *client, json_t *tags);
/* Sends what there is, if the client listens, and begins with it in this turn. */
void tagged_samples_send(struct client *client);
/* tagged_samples_resume has something to do. */
bool tagged_samples_works(const struct client *client);
/* The same, but not too often: to be called when there may be more. */
void tagged_samples_poll(struct client *client);
/* Goes on, in another turn. */
void tagged_samples_resume(struct client *client);
void tagged_samples_free(struct tagged_samples *tagged); /* NULL is fine */

#endif
