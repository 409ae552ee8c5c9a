#include "stalls_writer.h"

#include "stall_json.h"
#include "stall_words.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CURSOR_MAX = 40, WORK_STALL = 1 << 13 };

struct stalls_writer {
    struct reply_stream stream; /* the first: this is one */
    struct profile *profile;
    struct stalls *stalls;
    size_t next;
};

static void cursor_text(const struct stall_cursor *cursor, char out[CURSOR_MAX])
{
    snprintf(out, CURSOR_MAX, "%" PRIu64 ".%u", cursor->change, cursor->clears);
}

/* What does not come back as it was read (a sign, a blank, digits beyond the type) is not ours. */
bool stall_cursor_parse(const char *text, struct stall_cursor *out)
{
    char back[CURSOR_MAX];

    if (strlen(text) >= CURSOR_MAX ||
        sscanf(text, "%" SCNu64 ".%u", &out->change, &out->clears) != 2)
        return false;
    cursor_text(out, back);
    return !strcmp(text, back);
}

static void put_stall(struct stalls_writer *writer, const struct stall *stall)
{
    struct reply_stream *stream = &writer->stream;
    json_auto_t *json = stall_json(stall, stall_pid(writer->profile, stall->process_id), true);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;

    stream->failed |= !text;
    if (!text)
        return;
    if (writer->next > 1)
        json_text_literal(&stream->carry, ",");
    json_text_raw(&stream->carry, text, strlen(text));
    free(text);
}

static void put_next(struct reply_stream *stream)
{
    struct stalls_writer *writer = (struct stalls_writer *)stream;

    if (writer->next == stalls_count(writer->stalls)) {
        json_text_literal(&stream->carry, "]}}");
        stream->done = true;
        return;
    }
    work_off(stream->work, WORK_STALL);
    put_stall(writer, stalls_at(writer->stalls, writer->next++));
}

static void free_writer(struct reply_stream *stream)
{
    struct stalls_writer *writer = (struct stalls_writer *)stream;

    stalls_free(writer->stalls);
    free(writer);
}

static const struct reply_stream_kind kind = { put_next, free_writer };

int stalls_writer_new(struct reply_stream **out, const struct stalls_list *list)
{
    struct stalls_writer *writer = calloc(1, sizeof(*writer));
    struct stall_cursor next = { stalls_change(list->stalls), list->clears };
    char cursor[CURSOR_MAX];
    struct json_text *text;

    if (!writer) {
        stalls_free(list->stalls);
        return -ISOSCOPE_NO_MEMORY;
    }
    writer->stream.kind = &kind;
    writer->profile = list->profile;
    writer->stalls = list->stalls;
    text = &writer->stream.carry;
    cursor_text(&next, cursor);
    json_text_raw(text, list->envelope, strlen(list->envelope));
    json_text_literal(text, "{\"type\":\"_StallList\",");
    if (list->reset)
        json_text_literal(text, "\"reset\":true,");
    json_text_literal(text, "\"next\":");
    json_text_string(text, cursor);
    json_text_literal(text, ",\"stalls\":[");
    *out = &writer->stream;
    return 0;
}
