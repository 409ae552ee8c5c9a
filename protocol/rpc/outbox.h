/*
 * outbox.h - what one client is still owed, in order: finished texts, and samples that are
 * written while they are sent.
 *
 * Units      bytes: of finished texts, its own; others_bytes: of what other clients sent to this
 *            one. Samples are bounded by their number instead (samples_reply.h).
 * Ownership  Takes over what is pushed, also on failure.
 * Errors     -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_OUTBOX_H
#define ISOSCOPE_OUTBOX_H

#include "reply_stream.h"

#include <stdbool.h>
#include <stddef.h>

struct message;

struct outbox {
    struct message *first, *last; /* NULL: empty */
    size_t bytes, others_bytes;
    unsigned samples; /* messages that are written while sent */
};

enum outbox_read {
    OUTBOX_MORE,  /* of the same message */
    OUTBOX_ENDED, /* the message went out whole */
    OUTBOX_WORKS, /* there is no text of it yet */
    OUTBOX_BROKE, /* memory ran out in the middle of it */
};

int outbox_push_text(struct outbox *outbox, char *text);
int outbox_push_others_text(struct outbox *outbox, char *text);
int outbox_push_samples(struct outbox *outbox, struct reply_stream *samples);
void outbox_clear(struct outbox *outbox);

/* The next piece of the first message; there must be one. begins: it is that message's first.
 * work: how much may be done for it. */
enum outbox_read outbox_read(struct outbox *outbox, char *buffer, size_t size, int64_t *work,
                             size_t *count, bool *begins);

#endif
