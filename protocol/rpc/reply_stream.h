/*
 * reply_stream.h - a reply that is composed while it is sent, some 32 KiB at a time.
 *
 *   handler -> struct reply_stream (cpu_samples_writer, table_writer, perfetto_writer) -> outbox
 *
 * A reply of a hundred megabytes costs the carry: 32 KiB, or one entry if that is more.
 *
 * Ownership  A kind's own struct begins with a struct reply_stream; its free frees all of it.
 * Threads    The service thread.
 * Errors     Out of memory in the middle of a reply cannot be told to the client any more:
 *            reply_stream_failed says so, and the client has to go.
 */
#ifndef ISOSCOPE_REPLY_STREAM_H
#define ISOSCOPE_REPLY_STREAM_H

#include "../text/json_writer.h"
#include "../../sampler/profile/snapshot.h"

#include <stdbool.h>
#include <stddef.h>

struct reply_stream;

struct reply_stream_kind {
    /* Puts one more entry into stream->carry, or says that there is none: done. Where an entry
     * takes long, it takes what is told off stream->work, and goes on at the next call. */
    void (*compose)(struct reply_stream *stream);
    void (*free)(struct reply_stream *stream);
};

struct reply_stream {
    const struct reply_stream_kind *kind;
    struct json_text carry; /* composed; [sent, length) is still to go */
    size_t sent;
    int64_t *work; /* what is left of it in this turn; while composing */
    bool done, failed;
};

void reply_stream_free(struct reply_stream *stream); /* NULL is fine */

/* Fills buffer as far as there is text, or work left. ends: that was the last of it. */
size_t reply_stream_read(struct reply_stream *stream, char *buffer, size_t size, int64_t *work,
                         bool *ends);
bool reply_stream_failed(const struct reply_stream *stream);

#endif
