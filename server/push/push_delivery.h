/*
 * push_delivery.h - one profile to an engine and its verdict, in a packing that this engine reads.
 *
 *   profile -> body (push_request, push_packing) -> push_post -> answer -> verdict
 *
 * Which packing the engine reads is found out on the way, and said when it is not the first one.
 *
 * Ownership  Borrows the target.
 * Threads    One at a time; push_delivery_cancel: any.
 * Errors     push_delivery_new: 0, -ISOSCOPE_NO_MEMORY, -ISOSCOPE_INVALID with a sentence in error.
 */
#ifndef ISOSCOPE_PUSH_DELIVERY_H
#define ISOSCOPE_PUSH_DELIVERY_H

#include "push_post.h"
#include "push_verdict.h"

struct push_delivery;

struct push_delivery_plan {
    const struct push_target *target;
    const char *headers; /* push_post.h */
    bool zstd;           /* where the engine reads it (push_packing.h) */
};

int push_delivery_new(struct push_delivery **out, const struct push_delivery_plan *plan,
                      char *error, size_t error_size);
void push_delivery_free(struct push_delivery *delivery); /* NULL is fine */

/* bytes: with gzip around them. An OTLP receiver that took the request and left profiles out has
 * refused them. */
enum push_verdict push_deliver(struct push_delivery *delivery, const struct push_profile *profile,
                               const char *bytes, size_t length, struct push_reply *out);
/* Says the first refusal, with the engine's reason. */
void push_delivery_say_refused(struct push_delivery *delivery, const struct push_reply *reply);
/* push_post.h */
void push_delivery_cancel(struct push_delivery *delivery);
void push_delivery_end_with(struct push_delivery *delivery, int fd);

#endif
