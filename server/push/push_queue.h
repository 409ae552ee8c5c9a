/*
 * push_queue.h - profiles on their way to an engine: a folder, whose oldest file goes first, and is
 * dropped first.
 *
 *   push_queue_put (service thread) -> files -> push_queue_take .. push_queue_done (sender's thread)
 *
 * The folder outlives the run: what an engine that was down did not get, a later run sends. Several
 * runs may share it: who sends a file holds a lock on it. A file is whole or not there (rename).
 *
 * Bounds     bytes_max of files; and PUSH_AGE_MS_MAX, for a Pyroscope takes no older ones.
 * Threads    As above; counters: any.
 * Errors     0, -ISOSCOPE_SYSTEM (errno), -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_PUSH_QUEUE_H
#define ISOSCOPE_PUSH_QUEUE_H

#include "push_request.h"

enum { PUSH_AGE_MS_MAX = 60 * 60 * 1000 };

struct push_queue;

/* Makes the folder, with those above it, 0700. */
int push_queue_open(struct push_queue **out, const char *folder, size_t bytes_max);
void push_queue_free(struct push_queue *queue); /* NULL is fine; the files stay */

int push_queue_put(struct push_queue *queue, const struct push_profile *profile, const char *bytes,
                   size_t length);

/* A file that is being sent. */
struct push_entry {
    struct push_profile profile;
    char *content;     /* all of the file */
    const char *bytes; /* of it: the profile */
    size_t length;
    char name[256];
    int fd;
};

/* The oldest that nobody sends. Drops those that are too old. False: there is none. */
bool push_queue_take(struct push_queue *queue, int64_t now_ms, struct push_entry *out);
/* sent: it goes; else it stays for another time. */
void push_queue_done(struct push_queue *queue, struct push_entry *entry, bool gone);

unsigned push_queue_waiting(struct push_queue *queue); /* files */
uint64_t push_queue_dropped(struct push_queue *queue); /* for want of room */
uint64_t push_queue_aged(struct push_queue *queue);    /* too old */

#endif
