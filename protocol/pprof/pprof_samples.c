#include "pprof_samples.h"

#include "otlp_fields.h"
#include "pprof_fields.h"
#include "../text/protobuf.h"

#include <stdlib.h>

enum { WORK_SAMPLE = 8, CAPACITY_MIN = 64 };

static void put_label(struct pprof_samples *samples, struct pprof_tables *tables, const char *key,
                      const char *text, uint64_t number)
{
    size_t message;

    if ((!text || !text[0]) && !number)
        return;
    message = protobuf_begin(&samples->labels, SAMPLE_LABEL);
    protobuf_uint(&samples->labels, LABEL_KEY, pprof_string(tables, key));
    if (text && text[0])
        protobuf_uint(&samples->labels, LABEL_STR, pprof_string(tables, text));
    else
        protobuf_uint(&samples->labels, LABEL_NUM, number);
    protobuf_end(&samples->labels, message);
}

static bool make_label_room(struct pprof_samples *samples)
{
    uint32_t capacity = samples->label_capacity ? 2 * samples->label_capacity : CAPACITY_MIN;
    size_t *ends;

    if (samples->sources.count < samples->label_capacity)
        return true;
    ends = realloc(samples->label_ends, capacity * sizeof(*ends));
    if (!ends)
        return false;
    samples->label_ends = ends;
    samples->label_capacity = capacity;
    return true;
}

static void put_text(struct json_text *key, const char *text)
{
    if (text)
        json_text_raw(key, text, strlen(text));
    json_text_raw(key, "", 1);
}

/* What its labels say. Texts: NULL or "": it has none. */
struct source {
    int32_t pid, tid;
    const char *process, *thread, *tag, *state, *cut;
};

static const char *few_tag(struct pprof_samples *samples, const char *tag)
{
    bool added, full = samples->tags.count == PPROF_FEW_TAGS;

    if (!tag)
        return NULL;
    if (full)
        return interned_has(&samples->tags, tag, strlen(tag)) ? tag : "other";
    interned_put(&samples->tags, tag, strlen(tag), &added);
    return tag;
}

static struct source describe(struct pprof_samples *samples, const struct snapshot_sample *sample,
                              const struct process_info *process, const char *state)
{
    if (samples->few)
        return (struct source){ .process = process->name, .tag = few_tag(samples, sample->tag) };
    return (struct source){ process->pid,
                            sample->tid,
                            process->name,
                            sample->thread_name,
                            snapshot_user_tag(sample->tag, sample->thread_name),
                            state,
                            sample->end == FEED_END_ROOT ? "" : "cut" };
}

static void put_source_key(struct json_text *key, const struct source *source)
{
    key->length = 0;
    json_text_raw(key, (const char *)&source->pid, sizeof(source->pid));
    json_text_raw(key, (const char *)&source->tid, sizeof(source->tid));
    put_text(key, source->process);
    put_text(key, source->thread);
    put_text(key, source->tag);
    put_text(key, source->state);
    put_text(key, source->cut);
}

/* What a source says under a name; of no text and no number it says nothing. */
struct label {
    const char *name, *attribute; /* in pprof's profiles, in OTLP's */
    const char *text;
    uint64_t number;
};

static void put_pprof_labels(struct pprof_samples *samples, struct pprof_tables *tables,
                             const struct label *labels, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_label(samples, tables, labels[i].name, labels[i].text, labels[i].number);
}

static void put_otlp_labels(struct pprof_samples *samples, struct pprof_tables *tables,
                            const struct label *labels, size_t count)
{
    size_t list = protobuf_begin(&samples->labels, OTLP_SAMPLE_ATTRIBUTE_INDICES);

    for (size_t i = 0; i < count; i++) {
        const char *text = labels[i].text && labels[i].text[0] ? labels[i].text : NULL;

        if (text || labels[i].number)
            protobuf_packed(&samples->labels,
                            otlp_attribute(pprof_dictionary(tables), labels[i].attribute, text,
                                           labels[i].number));
    }
    protobuf_end(&samples->labels, list);
}

static void put_labels(struct pprof_samples *samples, struct pprof_tables *tables,
                       const struct source *source)
{
    const struct label labels[] = {
        { "thread", "thread.name", source->thread, 0 },
        { "tid", "thread.id", NULL, (uint64_t)source->tid },
        { "process", "process.executable.name", source->process, 0 },
        { "pid", "process.pid", NULL, (uint64_t)source->pid },
        { "tag", "isoscope.tag", source->tag, 0 },
        { "state", "isoscope.state", source->state, 0 },
        { "stack", "isoscope.stack", source->cut, 0 },
    };

    if (tables->fields == &otlp_table_fields)
        put_otlp_labels(samples, tables, labels, sizeof(labels) / sizeof(*labels));
    else
        put_pprof_labels(samples, tables, labels, sizeof(labels) / sizeof(*labels));
}

static uint32_t source_of(struct pprof_samples *samples, struct pprof_tables *tables,
                          const struct source *source)
{
    bool added;
    uint32_t number;

    put_source_key(&samples->key, source);
    if (samples->key.failed || !make_label_room(samples)) {
        samples->failed = true;
        return 0;
    }
    number = interned_put(&samples->sources, samples->key.data, samples->key.length, &added);
    if (!added)
        return number;
    put_labels(samples, tables, source);
    samples->label_ends[number] = samples->labels.length;
    return number;
}

static void put_number(struct json_text *key, uint32_t number)
{
    json_text_raw(key, (const char *)&number, sizeof(number));
}

static bool make_sum_room(struct pprof_samples *samples)
{
    uint32_t capacity = samples->sum_capacity ? 2 * samples->sum_capacity : CAPACITY_MIN;
    struct pprof_sums *sums;

    if (samples->stacks.count < samples->sum_capacity)
        return true;
    sums = realloc(samples->sums, capacity * sizeof(*sums));
    if (!sums)
        return false;
    memset(sums + samples->sum_capacity, 0, (capacity - samples->sum_capacity) * sizeof(*sums));
    samples->sums = sums;
    samples->sum_capacity = capacity;
    return true;
}

/* Where there is no room for more stacks, all further ones are one. They are that also where they
 * were met before: which one would be, would be chance. */
static void put_stack(struct pprof_samples *samples, struct pprof_tables *tables,
                      const struct snapshot_sample *sample)
{
    size_t bytes_max = samples->stacks_bytes_max ? samples->stacks_bytes_max : PPROF_STACKS_BYTES;
    uint32_t used;

    samples->overflowed |= samples->stacks.length > bytes_max;
    if (samples->overflowed)
        return put_number(&samples->key, pprof_location_named(tables, PPROF_OTHERS));
    for (uint32_t i = 0; i < sample->depth; i += used)
        put_number(&samples->key,
                   pprof_location(tables, sample->frames + i, sample->depth - i, &used));
}

uint32_t pprof_samples_add(struct pprof_samples *samples, struct pprof_tables *tables,
                           const struct snapshot_sample *sample, const struct process_info *process,
                           const char *state, unsigned pair)
{
    struct source described = describe(samples, sample, process, state);
    uint32_t source = source_of(samples, tables, &described), number;
    bool added;

    samples->key.length = 0;
    put_number(&samples->key, source);
    put_stack(samples, tables, sample);
    if (samples->key.failed || !make_sum_room(samples)) {
        samples->failed = true;
        return 1;
    }
    number = interned_put(&samples->stacks, samples->key.data, samples->key.length, &added);
    samples->sums[number].many[pair] += sample->objects;
    samples->sums[number].amount[pair] += sample->weight;
    return WORK_SAMPLE + sample->depth;
}

uint32_t pprof_entry_location(const struct pprof_entry *entry, size_t number)
{
    uint32_t location;

    memcpy(&location, entry->locations + number * sizeof(location), sizeof(location));
    return location;
}

struct pprof_entry pprof_samples_entry(const struct pprof_samples *samples, uint32_t number)
{
    size_t size, from;
    const char *key = interned_text(&samples->stacks, number, &size);
    uint32_t source;

    memcpy(&source, key, sizeof(source));
    from = source ? samples->label_ends[source - 1] : 0;
    return (struct pprof_entry){ .locations = key + sizeof(source),
                                 .depth = size / sizeof(uint32_t) - 1,
                                 .sums = &samples->sums[number],
                                 .labels = samples->labels.data + from,
                                 .labels_length = samples->label_ends[source] - from };
}

static void put_locations(struct json_text *out, const struct pprof_entry *entry)
{
    size_t list = protobuf_begin(out, SAMPLE_LOCATION_ID);

    for (size_t i = 0; i < entry->depth; i++)
        protobuf_packed(out, pprof_entry_location(entry, i));
    protobuf_end(out, list);
}

static void put_values(struct json_text *out, const struct pprof_sums *sums, unsigned pairs)
{
    size_t list = protobuf_begin(out, SAMPLE_VALUE);

    for (unsigned column = 0; column < 2 * pairs; column++)
        protobuf_packed(out, pprof_sums_value(sums, column));
    protobuf_end(out, list);
}

void pprof_samples_put(struct pprof_samples *samples, struct json_text *out, uint32_t number,
                       unsigned pairs)
{
    struct pprof_entry entry = pprof_samples_entry(samples, number);
    size_t message = protobuf_begin(out, PROFILE_SAMPLE);

    put_locations(out, &entry);
    put_values(out, entry.sums, pairs);
    json_text_raw(out, entry.labels, entry.labels_length);
    protobuf_end(out, message);
}

uint64_t pprof_sums_value(const struct pprof_sums *sums, unsigned column)
{
    return column % 2 ? sums->amount[column / 2] : (uint64_t)(sums->many[column / 2] + 0.5);
}

uint32_t pprof_samples_count(const struct pprof_samples *samples)
{
    return samples->stacks.count;
}

bool pprof_samples_failed(const struct pprof_samples *samples)
{
    return samples->failed || samples->labels.failed || samples->sources.failed ||
           samples->stacks.failed;
}

void pprof_samples_free(struct pprof_samples *samples)
{
    interned_free(&samples->sources);
    interned_free(&samples->stacks);
    interned_free(&samples->tags);
    json_text_free(&samples->labels);
    json_text_free(&samples->key);
    free(samples->label_ends);
    free(samples->sums);
    *samples = (struct pprof_samples){ 0 };
}
