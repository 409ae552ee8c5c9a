#include "piece.h"

#include "../../base/grow.h"

#include <string.h>

static const char *const kind_words[SAMPLE_KINDS] = {
    [SAMPLES_OF_ALLOCATIONS] = "alloc", [SAMPLES_OF_LIVE] = "live",    [SAMPLES_OF_LOCKS] = "lock",
    [SAMPLES_OF_WAITS] = "wait",        [SAMPLES_OF_FAULTS] = "fault",
};

void piece_free(struct piece *piece)
{
    free(piece->sources);
    free(piece->counts);
    *piece = (struct piece){ 0 };
}

static json_t *write_sources(const struct piece *piece)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < piece->source_count; i++)
        json_array_append_new(list, json_pack("[I, I]", (json_int_t)piece->sources[i].thread,
                                              (json_int_t)piece->sources[i].tag));
    return list;
}

/* [source, last, state, samples, state, samples, ...] */
static json_t *write_count(const struct piece_count *count)
{
    json_t *list = json_pack("[i, i]", (int)count->source, (int)count->last);

    for (int state = 0; state < OWNER_STATES; state++) {
        if (!count->states[state])
            continue;
        json_array_append_new(list, json_integer(state));
        json_array_append_new(list, json_integer(count->states[state]));
    }
    return list;
}

json_t *piece_write(const struct piece *piece)
{
    json_t *counts = json_array(), *object;

    for (uint32_t i = 0; i < piece->count_count; i++)
        json_array_append_new(counts, write_count(&piece->counts[i]));
    object = json_pack("{s:b, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:o, s:o}", "begins",
                       (int)piece_begins(piece), "samples", (int)piece->samples, "nodes",
                       (int)piece->nodes, "frames", (int)piece->frames, "minUs",
                       (json_int_t)piece->min_us, "maxUs", (json_int_t)piece->max_us, "cpuUnit",
                       (json_int_t)piece->cpu_unit, "cpuBase", (json_int_t)piece->cpu_base,
                       "sources", write_sources(piece), "counts", counts);
    if (object && kind_words[piece->kind])
        json_object_set_new(object, "kind", json_string(kind_words[piece->kind]));
    return object;
}

bool piece_begins(const struct piece *piece)
{
    return piece->first_node == 1 && piece->first_frame == 1 && !piece->first_sample &&
           !piece->first_source;
}

static void read_source(struct entry *entry, const json_t *pair, struct piece *piece)
{
    struct piece_source source = {
        .thread = (uint32_t)entry_int_at(entry, "sources", pair, 0, 1, UINT32_MAX),
        .tag = (uint32_t)entry_int_at(entry, "sources", pair, 1, 0, UINT32_MAX),
    };

    if (GROW(piece->sources, piece->source_count, piece->source_capacity))
        piece->sources[piece->source_count++] = source;
    else
        entry_fail(entry, "out of memory");
}

/* Returns how many samples it has. */
static uint64_t read_count(struct entry *entry, const json_t *list, struct piece *piece)
{
    uint32_t sources = piece->first_source + piece->source_count;
    struct piece_count count = {
        .source = (uint32_t)entry_int_at(entry, "counts", list, 0, 0, (int64_t)sources - 1),
        .last = (uint32_t)entry_int_at(entry, "counts", list, 1, piece->first_sample,
                                       (int64_t)piece->first_sample + piece->samples - 1),
    };
    uint64_t sum = 0;

    for (size_t i = 2; i < json_array_size(list) && !entry->bad; i += 2) {
        int64_t state = entry_int_at(entry, "counts", list, i, 0, OWNER_STATES - 1);

        count.states[state] =
            (uint32_t)entry_int_at(entry, "counts", list, i + 1, 0, piece->samples);
        sum += count.states[state];
    }
    if (GROW(piece->counts, piece->count_count, piece->count_capacity))
        piece->counts[piece->count_count++] = count;
    else
        entry_fail(entry, "out of memory");
    return sum;
}

/* How many there are behind the first ones. */
static uint32_t read_more(struct entry *entry, const char *name, uint32_t first)
{
    uint32_t count = (uint32_t)entry_int(entry, name, 0, CHUNK_ENTRIES_MAX);

    if (first + count > CHUNK_ENTRIES_MAX)
        entry_fail(entry, "its chunk has more than %d '%s'", CHUNK_ENTRIES_MAX, name);
    return count;
}

static void read_firsts(struct entry *entry, const struct piece *before, struct piece *out)
{
    out->first_node = out->first_frame = 1;
    if (entry_flag(entry, "begins"))
        return;
    if (!before) {
        entry_fail(entry, "it goes on with a chunk, and none is there");
        return;
    }
    out->first_sample = before->first_sample + before->samples;
    out->first_node = before->first_node + before->nodes;
    out->first_frame = before->first_frame + before->frames;
    out->first_source = before->first_source + before->source_count;
}

static void read_sources(struct entry *entry, struct piece *out)
{
    const json_t *sources = entry_list(entry, "sources"), *counts = entry_list(entry, "counts");
    uint64_t sum = 0;

    if (out->first_source + json_array_size(sources) > CHUNK_ENTRIES_MAX)
        entry_fail(entry, "'sources' are more than %d", CHUNK_ENTRIES_MAX);
    for (size_t i = 0; i < json_array_size(sources) && !entry->bad; i++)
        read_source(entry, json_array_get(sources, i), out);
    for (size_t i = 0; i < json_array_size(counts) && !entry->bad; i++)
        sum += read_count(entry, json_array_get(counts, i), out);
    if (sum != out->samples)
        entry_fail(entry, "'counts' are not those of %d samples", (int)out->samples);
}

enum sample_kind piece_kind(struct entry *entry)
{
    const char *word = entry_text(entry, "kind");
    int kind = 0;

    if (!word)
        entry_fail(entry, "'kind' is missing");
    while (kind < SAMPLE_KINDS && (!word || !kind_words[kind] || strcmp(word, kind_words[kind])))
        kind++;
    return (enum sample_kind)kind;
}

void piece_read(struct entry *entry, const struct piece *before, struct piece *out)
{
    read_firsts(entry, before, out);
    out->samples = read_more(entry, "samples", out->first_sample);
    out->nodes = read_more(entry, "nodes", out->first_node);
    out->frames = read_more(entry, "frames", out->first_frame);
    out->min_us = entry_int(entry, "minUs", 0, INT64_MAX / 4);
    out->max_us = entry_int(entry, "maxUs", 0, INT64_MAX / 4);
    out->cpu_unit = (uint32_t)entry_int(entry, "cpuUnit", 1, UINT32_MAX);
    out->cpu_base = (uint32_t)entry_int(entry, "cpuBase", 0, UINT32_MAX);
    if (!entry->bad && (!out->samples || out->min_us > out->max_us || !out->cpu_unit))
        entry_fail(entry, "'samples', 'cpuUnit' or its times are out of range");
    if (!entry->bad)
        read_sources(entry, out);
}
