#include "session_stream.h"

#include "../text/base64.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/recorder.h"

#include <stdlib.h>
#include <string.h>

/* A step packs some 10,000 samples: three or four in a turn. */
enum { WORK_STEP = WORK_TURN / 4 };

struct session_stream {
    struct reply_stream stream; /* the first: this is one */
    struct save *save;
    struct json_text bytes; /* whose base64 is still to come */
};

/* False: that was all. */
static bool put_step(struct session_stream *writer)
{
    const void *bytes;
    size_t count = 0;
    int result = save_step(writer->save, &bytes, &count);

    work_off(writer->stream.work, WORK_STEP);
    writer->stream.failed = result < 0;
    if (result == 1)
        json_text_raw(&writer->bytes, bytes, count);
    return result == 1;
}

static void put_next(struct reply_stream *stream)
{
    struct session_stream *writer = (struct session_stream *)stream;
    struct json_text *bytes = &writer->bytes;
    bool last = !put_step(writer);
    size_t taken = base64_put(&stream->carry, bytes->data, bytes->length, last);

    stream->failed |= bytes->failed;
    memmove(bytes->data, bytes->data + taken, bytes->length - taken);
    bytes->length -= taken;
    stream->done = last;
    if (last)
        json_text_literal(&stream->carry, "\"}}");
}

static void free_writer(struct reply_stream *stream)
{
    struct session_stream *writer = (struct session_stream *)stream;

    save_free(writer->save);
    json_text_free(&writer->bytes);
    free(writer);
}

static const struct reply_stream_kind kind = { put_next, free_writer };

int session_stream_new(struct reply_stream **out, struct save *save, const char *envelope)
{
    struct session_stream *writer = calloc(1, sizeof(*writer));

    if (!writer) {
        save_free(save);
        return -ISOSCOPE_NO_MEMORY;
    }
    writer->stream.kind = &kind;
    writer->save = save;
    json_text_raw(&writer->stream.carry, envelope, strlen(envelope));
    json_text_literal(&writer->stream.carry, "{\"type\":\"_Session\",\"data\":\"");
    *out = &writer->stream;
    return 0;
}
