#include "table_writer.h"

#include "describe_json.h"
#include "sample_words.h"
#include "table_cursor.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

struct table_writer {
    struct reply_stream stream; /* the first: this is one */
    struct follow *follow;
    uint32_t part;  /* the tree that is written, of chunk_delta_count */
    uint32_t list;  /* index into lists */
    bool opened;    /* it has begun */
    uint32_t entry; /* the next one, below end */
    uint32_t end;
    uint32_t shown;  /* samples of the list so far */
    bool any;        /* the list has an entry already */
    bool any_tree;   /* there is a tree already */
    int64_t time_us; /* of the sample before */
    enum sample_kind kind;
};

/* A list of the reply. What is before it closes the list before. */
struct list {
    const char *before;
    void (*range)(const struct table_writer *writer, uint32_t *first, uint32_t *end);
    void (*put)(struct table_writer *writer, struct json_text *text, uint32_t entry);
    void (*put_sample)(struct table_writer *writer, struct json_text *text,
                       const struct follow_sample *sample);
    bool (*is_of)(enum sample_kind kind); /* NULL: of each */
};

static struct chunk_delta part_of(const struct table_writer *writer)
{
    return chunk_delta(writer->follow, writer->part);
}

static void library_range(const struct table_writer *writer, uint32_t *first, uint32_t *end)
{
    follow_libraries(writer->follow, first, end);
}

static void function_range(const struct table_writer *writer, uint32_t *first, uint32_t *end)
{
    follow_functions(writer->follow, first, end);
}

static void frame_range(const struct table_writer *writer, uint32_t *first, uint32_t *end)
{
    follow_frames(writer->follow, first, end);
}

static void renamed_range(const struct table_writer *writer, uint32_t *first, uint32_t *end)
{
    follow_renamed(writer->follow, first, end);
}

static void node_range(const struct table_writer *writer, uint32_t *first, uint32_t *end)
{
    *first = part_of(writer).first_node;
    *end = part_of(writer).end_node;
}

static void thread_range(const struct table_writer *writer, uint32_t *first, uint32_t *end)
{
    *first = part_of(writer).first_thread;
    *end = part_of(writer).end_thread;
}

static void sample_range(const struct table_writer *writer, uint32_t *first, uint32_t *end)
{
    *first = part_of(writer).first_sample;
    *end = part_of(writer).end_sample;
}

static void put_number(struct table_writer *writer, struct json_text *text, int64_t number)
{
    json_text_comma(text, &writer->any);
    json_text_int(text, number);
}

static void put_library(struct table_writer *writer, struct json_text *text, uint32_t entry)
{
    json_text_comma(text, &writer->any);
    describe_library_json(text, follow_library(writer->follow, entry));
}

static void put_function(struct table_writer *writer, struct json_text *text, uint32_t entry)
{
    const struct snapshot_function *function = follow_function(writer->follow, entry);

    json_text_comma(text, &writer->any);
    json_text_literal(text, "{");
    describe_function_json(text, function, follow_library(writer->follow, function->library));
    json_text_literal(text, "}");
}

/* Only where a line lies in another file than its function. */
static void put_files(struct json_text *text, const struct snapshot_frame *places, uint32_t length)
{
    bool any = false;

    for (uint32_t i = 0; i < length; i++)
        any |= places[i].file != NULL;
    if (!any)
        return;
    json_text_literal(text, ",\"files\":");
    for (uint32_t i = 0; i < length; i++) {
        json_text_raw(text, i ? "," : "[", 1);
        json_text_string(text, places[i].file ? places[i].file : "");
    }
    json_text_literal(text, "]");
}

static void put_places(struct json_text *text, const struct snapshot_frame *places, uint32_t length)
{
    json_text_literal(text, "\"functions\":");
    for (uint32_t i = 0; i < length; i++) {
        json_text_raw(text, i ? "," : "[", 1);
        json_text_uint(text, places[i].function);
    }
    json_text_literal(text, "],\"lines\":");
    for (uint32_t i = 0; i < length; i++) {
        json_text_raw(text, i ? "," : "[", 1);
        json_text_uint(text, places[i].line);
    }
    json_text_literal(text, "]");
    put_files(text, places, length);
}

static void put_frame(struct table_writer *writer, struct json_text *text, uint32_t entry)
{
    uint32_t length;
    const struct snapshot_frame *places = follow_frame(writer->follow, entry, &length);

    json_text_comma(text, &writer->any);
    json_text_literal(text, "{");
    put_places(text, places, length);
    if (places->offset != SNAPSHOT_NO_OFFSET)
        json_text_member(text, ",\"offset\":", (int64_t)places->offset);
    json_text_literal(text, "}");
}

/* Where more is known of a frame that the reader has. */
static void put_renamed(struct table_writer *writer, struct json_text *text, uint32_t entry)
{
    const struct snapshot_frame *places;
    uint32_t frame, length;

    if (!follow_renamed_frame(writer->follow, entry, &frame))
        return;
    places = follow_frame(writer->follow, frame, &length);
    json_text_comma(text, &writer->any);
    json_text_member(text, "{\"frame\":", frame);
    json_text_literal(text, ",");
    put_places(text, places, length);
    json_text_literal(text, "}");
}

static void put_node_caller(struct table_writer *writer, struct json_text *text, uint32_t entry)
{
    put_number(writer, text, follow_node(writer->follow, writer->part, entry).caller);
}

static void put_node_frame(struct table_writer *writer, struct json_text *text, uint32_t entry)
{
    put_number(writer, text, follow_node(writer->follow, writer->part, entry).frame);
}

static void put_thread(struct table_writer *writer, struct json_text *text, uint32_t entry)
{
    struct follow_thread thread = follow_thread(writer->follow, writer->part, entry);

    json_text_comma(text, &writer->any);
    json_text_literal(text, "{\"isolateId\":\"isolates/");
    json_text_uint(text, thread.process_id);
    json_text_literal(text, "\",\"tid\":");
    json_text_int(text, thread.tid);
    json_text_literal(text, ",\"name\":");
    json_text_string(text, thread.name ? thread.name : "");
    json_text_literal(text, ",\"userTag\":");
    json_text_string(text, snapshot_user_tag(thread.tag, thread.name));
    json_text_literal(text, "}");
}

static void put_time(struct table_writer *writer, struct json_text *text,
                     const struct follow_sample *sample)
{
    put_number(writer, text, sample->timestamp_us - writer->time_us);
    writer->time_us = sample->timestamp_us;
}

#define SAMPLE_COLUMN(name, member)                                                                \
    static void put_##name(struct table_writer *writer, struct json_text *text,                    \
                           const struct follow_sample *sample)                                     \
    {                                                                                              \
        put_number(writer, text, (int64_t)sample->member);                                         \
    }
SAMPLE_COLUMN(sample_thread, thread)
SAMPLE_COLUMN(sample_caller, caller)
SAMPLE_COLUMN(sample_frame, frame)
SAMPLE_COLUMN(weight, weight)
SAMPLE_COLUMN(holder, wait.holder)
SAMPLE_COLUMN(what, wait.what)
#undef SAMPLE_COLUMN

static void put_cpu(struct table_writer *writer, struct json_text *text,
                    const struct follow_sample *sample)
{
    put_number(writer, text, sample_kind_is_many(writer->kind) ? 0 : (int64_t)sample->weight);
}

static void put_objects(struct table_writer *writer, struct json_text *text,
                        const struct follow_sample *sample)
{
    json_text_comma(text, &writer->any);
    json_text_double(text, sample->objects);
}

/* The last of vmTags stands for all that has no word. */
static void put_state(struct table_writer *writer, struct json_text *text,
                      const struct follow_sample *sample)
{
    put_number(writer, text, sample->state < FEED_STATE_COUNT ? sample->state : FEED_STATE_COUNT);
}

static void put_incomplete(struct table_writer *writer, struct json_text *text,
                           const struct follow_sample *sample)
{
    if (sample->end != FEED_END_ROOT)
        put_number(writer, text, writer->shown);
}

static void put_end(struct table_writer *writer, struct json_text *text,
                    const struct follow_sample *sample)
{
    const char *word = sample_end_word(sample->end);

    if (sample->end == FEED_END_ROOT)
        return;
    json_text_comma(text, &writer->any);
    json_text_string(text, word ? word : "");
}

static bool is_faults(enum sample_kind kind)
{
    return kind == SAMPLES_OF_FAULTS;
}

static const struct list lists[] = {
    { ",\"libraries\":[", library_range, put_library, NULL, NULL },
    { "],\"functions\":[", function_range, put_function, NULL, NULL },
    { "],\"frames\":[", frame_range, put_frame, NULL, NULL },
    { "],\"renamed\":[", renamed_range, put_renamed, NULL, NULL },
    { NULL, node_range, put_node_caller, NULL, NULL },
    { "],\"frames\":[", node_range, put_node_frame, NULL, NULL },
    { "]},\"threads\":[", thread_range, put_thread, NULL, NULL },
    { "],\"samples\":{\"timeDeltas\":[", sample_range, NULL, put_time, NULL },
    { "],\"threads\":[", sample_range, NULL, put_sample_thread, NULL },
    { "],\"callers\":[", sample_range, NULL, put_sample_caller, NULL },
    { "],\"frames\":[", sample_range, NULL, put_sample_frame, NULL },
    { "],\"cpuNanos\":[", sample_range, NULL, put_cpu, NULL },
    { "],\"vmTags\":[", sample_range, NULL, put_state, NULL },
    { "],\"bytes\":[", sample_range, NULL, put_weight, sample_kind_is_memory },
    { "],\"objects\":[", sample_range, NULL, put_objects, sample_kind_is_memory },
    { "],\"waitNanos\":[", sample_range, NULL, put_weight, sample_kind_is_waits },
    { "],\"waits\":[", sample_range, NULL, put_objects, sample_kind_is_waits },
    { "],\"waitedFor\":[", sample_range, NULL, put_what, sample_kind_is_waits },
    { "],\"holders\":[", sample_range, NULL, put_holder, sample_kind_is_waits },
    { "],\"faults\":[", sample_range, NULL, put_weight, is_faults },
    { "],\"incomplete\":[", sample_range, NULL, put_incomplete, NULL },
    { "],\"ends\":[", sample_range, NULL, put_end, NULL },
};
enum { LIST_COUNT = sizeof(lists) / sizeof(*lists), FIRST_OF_TREE = 4 };

/* The first shown sample's; 0: there is none. */
static int64_t first_us(const struct table_writer *writer)
{
    struct follow_sample sample;
    uint32_t first, end;

    for (sample_range(writer, &first, &end); first < end; first++)
        if (follow_sample(writer->follow, writer->part, first, &sample))
            return sample.timestamp_us;
    return 0;
}

static void open_tree(struct table_writer *writer, struct json_text *text)
{
    struct chunk_delta part = part_of(writer);

    writer->time_us = first_us(writer);
    json_text_comma(text, &writer->any_tree);
    json_text_member(text, "{\"tree\":", (int64_t)part.tree);
    json_text_member(text, ",\"firstNode\":", part.first_node);
    json_text_member(text, ",\"firstThread\":", part.first_thread);
    json_text_member(text, ",\"timeOriginMicros\":", writer->time_us);
    json_text_literal(text, ",\"nodes\":{\"callers\":[");
}

static void open_list(struct table_writer *writer, struct json_text *text)
{
    const struct list *list = &lists[writer->list];

    writer->opened = true;
    writer->any = false;
    writer->shown = 0;
    list->range(writer, &writer->entry, &writer->end);
    if (list->before)
        json_text_raw(text, list->before, strlen(list->before));
    else
        open_tree(writer, text);
}

static void put_entry(struct table_writer *writer, struct json_text *text)
{
    const struct list *list = &lists[writer->list];
    struct follow_sample sample;
    uint32_t entry = writer->entry++;

    if (list->put)
        return list->put(writer, text, entry);
    if (!follow_sample(writer->follow, writer->part, entry, &sample))
        return;
    list->put_sample(writer, text, &sample);
    writer->shown++;
}

static bool is_empty(struct chunk_delta part)
{
    return part.first_node == part.end_node && part.first_thread == part.end_thread &&
           part.first_sample == part.end_sample;
}

/* On to the next tree with anything new in it, or to the end. */
static void begin_tree(struct table_writer *writer, struct json_text *text)
{
    uint32_t count = chunk_delta_count(writer->follow);

    while (writer->part < count && is_empty(part_of(writer)))
        writer->part++;
    writer->list = FIRST_OF_TREE;
    writer->stream.done = writer->part >= count;
    if (writer->stream.done)
        json_text_literal(text, "]}}");
}

static void close_list(struct table_writer *writer, struct json_text *text)
{
    writer->opened = false;
    do
        writer->list++;
    while (writer->list < LIST_COUNT && lists[writer->list].is_of &&
           !lists[writer->list].is_of(writer->kind));
    if (writer->list == FIRST_OF_TREE) {
        json_text_literal(text, "],\"trees\":[");
        begin_tree(writer, text);
    } else if (writer->list == LIST_COUNT) {
        json_text_literal(text, "]}}");
        writer->part++;
        begin_tree(writer, text);
    }
}

static void put_next(struct reply_stream *stream)
{
    struct table_writer *writer = (struct table_writer *)stream;

    if (!writer->opened)
        open_list(writer, &stream->carry);
    else if (writer->entry < writer->end)
        put_entry(writer, &stream->carry);
    else
        close_list(writer, &stream->carry);
}

static void put_vm_tags(struct json_text *text)
{
    json_text_literal(text, ",\"vmTags\":[");
    for (uint8_t state = 0; state <= FEED_STATE_COUNT; state++) {
        if (state)
            json_text_literal(text, ",");
        json_text_string(text, sample_vm_tag(state));
    }
    json_text_literal(text, "]");
}

static void put_first(struct json_text *text, const struct follow *follow)
{
    uint32_t first, end;

    follow_libraries(follow, &first, &end);
    json_text_member(text, ",\"firstLibrary\":", first);
    follow_functions(follow, &first, &end);
    json_text_member(text, ",\"firstFunction\":", first);
    follow_frames(follow, &first, &end);
    json_text_member(text, ",\"firstFrame\":", first);
}

static void put_head(struct json_text *text, const struct follow *follow,
                     const struct table_options *options)
{
    struct follow_cursor cursor = follow_cursor(follow);
    char next[TABLE_CURSOR_MAX];

    table_cursor_text(&cursor, next);
    json_text_raw(text, options->envelope, strlen(options->envelope));
    json_text_member(text, "{\"type\":\"_CpuSamplesTable\",\"samplePeriod\":", options->period_us);
    json_text_member(text, ",\"maxStackDepth\":", options->depth_max);
    json_text_member(text, ",\"sampleCount\":", follow_sample_count(follow));
    json_text_member(text, ",\"pid\":", options->pid);
    json_text_literal(text, ",\"next\":");
    json_text_string(text, next);
    if (follow_reset(follow))
        json_text_literal(text, ",\"reset\":true");
    if (follow_more(follow))
        json_text_literal(text, ",\"more\":true");
    if (options->tells_progress) {
        json_text_member(text, ",\"_symbols\":{\"done\":", options->symbols.done);
        json_text_member(text, ",\"asked\":", options->symbols.asked);
        json_text_literal(text, "}");
    }
    json_text_literal(text, ",\"_counters\":");
    json_text_raw(text, options->counters, strlen(options->counters));
    put_vm_tags(text);
    put_first(text, follow);
}

static void free_writer(struct reply_stream *stream)
{
    struct table_writer *writer = (struct table_writer *)stream;

    follow_free(writer->follow);
    free(writer);
}

static const struct reply_stream_kind kind = { put_next, free_writer };

int table_writer_new(struct reply_stream **out, struct follow *follow,
                     const struct table_options *options)
{
    struct table_writer *writer = calloc(1, sizeof(*writer));

    if (!writer) {
        follow_free(follow);
        return -ISOSCOPE_NO_MEMORY;
    }
    writer->stream.kind = &kind;
    writer->follow = follow;
    writer->kind = options->kind;
    put_head(&writer->stream.carry, follow, options);
    *out = &writer->stream;
    return 0;
}
