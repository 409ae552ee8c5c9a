#include "reply_stream.h"

#include <string.h>

/* Composed at a time: the cost of a round is lost in it, and it stays in the processor's cache. */
enum { CARRY_BYTES = 32 * 1024, WORK_ENTRY = 4 };

void reply_stream_free(struct reply_stream *stream)
{
    if (!stream)
        return;
    json_text_free(&stream->carry);
    stream->kind->free(stream);
}

bool reply_stream_failed(const struct reply_stream *stream)
{
    return stream->failed || stream->carry.failed;
}

/* Composes the next round once the carry has gone out. */
static void refill(struct reply_stream *stream)
{
    if (stream->sent < stream->carry.length)
        return;
    stream->sent = stream->carry.length = 0;
    while (!stream->done && stream->carry.length<CARRY_BYTES && * stream->work> 0 &&
           !reply_stream_failed(stream)) {
        work_off(stream->work, WORK_ENTRY);
        stream->kind->compose(stream);
    }
}

size_t reply_stream_read(struct reply_stream *stream, char *buffer, size_t size, int64_t *work,
                         bool *ends)
{
    size_t filled = 0;

    *ends = false;
    stream->work = work;
    refill(stream);
    while (filled < size && stream->sent < stream->carry.length && !reply_stream_failed(stream)) {
        size_t left = stream->carry.length - stream->sent;
        size_t count = left < size - filled ? left : size - filled;

        memcpy(buffer + filled, stream->carry.data + stream->sent, count);
        filled += count;
        stream->sent += count;
        refill(stream);
    }
    if (reply_stream_failed(stream))
        return 0;
    *ends = stream->done && stream->sent == stream->carry.length;
    return filled;
}
