#include "piece.h"

#include "../base/grow.h"

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
    json_t *counts = json_array();

    for (uint32_t i = 0; i < piece->count_count; i++)
        json_array_append_new(counts, write_count(&piece->counts[i]));
    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:I, s:I, s:i, s:o, s:o}", "firstSample",
                     (int)piece->first_sample, "samples", (int)piece->samples, "firstNode",
                     (int)piece->first_node, "nodes", (int)piece->nodes, "firstFrame",
                     (int)piece->first_frame, "frames", (int)piece->frames, "minUs",
                     (json_int_t)piece->min_us, "maxUs", (json_int_t)piece->max_us, "firstSource",
                     (int)piece->first_source, "sources", write_sources(piece), "counts", counts);
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

        count.states[state] = (uint32_t)entry_int_at(entry, "counts", list, i + 1, 0,
                                                     piece->samples);
        sum += count.states[state];
    }
    if (GROW(piece->counts, piece->count_count, piece->count_capacity))
        piece->counts[piece->count_count++] = count;
    else
        entry_fail(entry, "out of memory");
    return sum;
}

static uint32_t read_range(struct entry *entry, const char *first, const char *count, uint32_t least,
                           uint32_t *out)
{
    uint32_t from = (uint32_t)entry_int(entry, first, least, CHUNK_ENTRIES_MAX);

    *out = (uint32_t)entry_int(entry, count, 0, CHUNK_ENTRIES_MAX);
    if (from + *out > CHUNK_ENTRIES_MAX)
        entry_fail(entry, "'%s' and '%s' are more than %d", first, count, CHUNK_ENTRIES_MAX);
    return from;
}

static void read_sources(struct entry *entry, struct piece *out)
{
    const json_t *sources = entry_list(entry, "sources"), *counts = entry_list(entry, "counts");
    uint64_t sum = 0;

    out->first_source = (uint32_t)entry_int(entry, "firstSource", 0, CHUNK_ENTRIES_MAX);
    if (out->first_source + json_array_size(sources) > CHUNK_ENTRIES_MAX)
        entry_fail(entry, "'sources' are more than %d", CHUNK_ENTRIES_MAX);
    for (size_t i = 0; i < json_array_size(sources) && !entry->bad; i++)
        read_source(entry, json_array_get(sources, i), out);
    for (size_t i = 0; i < json_array_size(counts) && !entry->bad; i++)
        sum += read_count(entry, json_array_get(counts, i), out);
    if (sum != out->samples)
        entry_fail(entry, "'counts' are not those of %d samples", (int)out->samples);
}

void piece_read(struct entry *entry, struct piece *out)
{
    out->first_sample = read_range(entry, "firstSample", "samples", 0, &out->samples);
    out->first_node = read_range(entry, "firstNode", "nodes", 1, &out->nodes);
    out->first_frame = read_range(entry, "firstFrame", "frames", 1, &out->frames);
    out->min_us = entry_int(entry, "minUs", 0, INT64_MAX / 4);
    out->max_us = entry_int(entry, "maxUs", 0, INT64_MAX / 4);
    if (!entry->bad && (!out->samples || out->min_us > out->max_us))
        entry_fail(entry, "'samples' or its times are out of range");
    if (!entry->bad)
        read_sources(entry, out);
}
