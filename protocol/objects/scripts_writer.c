#include "scripts_writer.h"

#include "refs.h"
#include "uris.h"
#include "../generated/words.h"
#include "../text/tags.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

enum { WORK_SCRIPT = 256 };

struct scripts_writer {
    struct reply_stream stream; /* the first: this is one */
    struct scripts scripts;
    size_t next;
    struct json_text uri; /* of the next one */
    struct tags told;     /* URIs */
};

static bool is_new(struct scripts_writer *writer, const struct profile_script *script)
{
    uint32_t told = writer->told.count;

    writer->uri.length = 0;
    uri_source(&writer->uri, &script->library, script->file);
    json_text_raw(&writer->uri, "", 1);
    if (writer->uri.failed) {
        writer->stream.failed = true;
        return false;
    }
    tags_add(&writer->told, writer->uri.data);
    writer->stream.failed = writer->told.failed;
    return writer->told.count > told;
}

static void put_next(struct reply_stream *stream)
{
    struct scripts_writer *writer = (struct scripts_writer *)stream;
    const struct profile_script *script;

    if (writer->next == writer->scripts.count) {
        json_text_literal(&stream->carry, "]}}");
        stream->done = true;
        return;
    }
    script = &writer->scripts.list[writer->next++];
    work_off(stream->work, WORK_SCRIPT);
    if (!is_new(writer, script))
        return;
    if (writer->told.count > 1)
        json_text_literal(&stream->carry, ",");
    json_text_literal(&stream->carry, "{");
    ref_script(&stream->carry, "@Script", &script->library, script->file, script->file_number);
    json_text_literal(&stream->carry, "}");
}

static void free_writer(struct reply_stream *stream)
{
    struct scripts_writer *writer = (struct scripts_writer *)stream;

    scripts_free(&writer->scripts);
    json_text_free(&writer->uri);
    tags_free(&writer->told);
    free(writer);
}

static const struct reply_stream_kind kind = { put_next, free_writer };

int scripts_writer_new(struct reply_stream **out, struct scripts *scripts, const char *envelope)
{
    struct scripts_writer *writer = calloc(1, sizeof(*writer));

    if (!writer) {
        scripts_free(scripts);
        return -ISOSCOPE_NO_MEMORY;
    }
    writer->stream.kind = &kind;
    writer->scripts = *scripts;
    *scripts = (struct scripts){ 0 };
    json_text_raw(&writer->stream.carry, envelope, strlen(envelope));
    json_text_literal(&writer->stream.carry, "{\"type\":\"" TYPE_SCRIPT_LIST "\",\"scripts\":[");
    *out = &writer->stream;
    return 0;
}
