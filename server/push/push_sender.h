/*
 * push_sender.h - the thread that sends what the queue holds, one profile after the other, and waits
 * while the engine is down.
 *
 *   queue -> push_sender -> push_post -> the engine
 *
 * Ownership  Borrows the queue. push_sender_free ends the thread; what was not sent stays.
 * Threads    The service thread; left is called on the sender's.
 * Errors     push_sender_new: 0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_SYSTEM, -ISOSCOPE_INVALID with a
 *            sentence in error. What goes wrong later is said on stderr, once for each trouble.
 */
#ifndef ISOSCOPE_PUSH_SENDER_H
#define ISOSCOPE_PUSH_SENDER_H

#include "push_queue.h"

struct push_sender;

struct push_sender_plan {
    const struct push_target *target;
    const char *headers; /* push_post.h */
    const char *folder;  /* of the queue, in words for the user */
    bool zstd;           /* where the engine reads it (push_packing.h) */
    struct push_queue *queue;
    void (*left)(void *context); /* after push_sender_finish: it has nothing more to do */
    void *context;
};

int push_sender_new(struct push_sender **out, const struct push_sender_plan *plan, char *error,
                    size_t error_size);
void push_sender_free(struct push_sender *sender); /* NULL is fine */

void push_sender_wake(struct push_sender *sender); /* there is a new one */
/* There will be no more: each that waits is tried once more, up to the first that finds no engine. */
void push_sender_finish(struct push_sender *sender);

struct push_counts {
    uint64_t sent, refused;
};
struct push_counts push_sender_counts(struct push_sender *sender);

#endif
