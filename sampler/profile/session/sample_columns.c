#include "sample_columns.h"

#include "../naming/registry.h"
#include "../store/frame.h"

enum { MODULE, OFFSET, PARENT, NODE_FRAME, TIME, CPU, SOURCE, CALLER, LEAF, END, COLUMNS };

static void write_frames(const struct chunk *chunk, const struct piece *piece, struct bytes *to)
{
    uint64_t offset = 0;

    for (uint32_t i = piece->first_frame; i < piece->first_frame + piece->frames; i++) {
        bytes_varint(&to[MODULE], FRAME_KEY_MODULE(chunk->frames[i]));
        bytes_signed(&to[OFFSET], (int64_t)(FRAME_KEY_OFFSET(chunk->frames[i]) - offset));
        offset = FRAME_KEY_OFFSET(chunk->frames[i]);
    }
}

static void write_nodes(const struct chunk *chunk, const struct piece *piece, struct bytes *to)
{
    for (uint32_t i = piece->first_node; i < piece->first_node + piece->nodes; i++) {
        struct chunk_node node = chunk->nodes[i];

        bytes_varint(&to[PARENT], node.parent ? i - node.parent : 0);
        bytes_varint(&to[NODE_FRAME], node.frame);
    }
}

void sample_columns_write(const struct store_view *view, const struct piece *piece,
                          const uint32_t *numbers, struct columns *columns, struct bytes *out)
{
    const struct chunk *chunk = view->chunk;
    struct bytes *to = columns->list;
    int64_t time_us = piece->min_us, cpu = 0;

    columns_begin(columns, COLUMNS);
    write_frames(chunk, piece, to);
    write_nodes(chunk, piece, to);
    for (uint32_t i = 0; i < piece->samples; i++) {
        const struct chunk_sample *sample = &chunk->samples[numbers[i]];

        bytes_signed(&to[TIME], chunk_sample_us(chunk, numbers[i]) - time_us);
        bytes_signed(&to[CPU], (int64_t)sample->cpu - cpu);
        bytes_varint(&to[SOURCE], sample->source);
        bytes_varint(&to[CALLER], sample->caller);
        bytes_varint(&to[LEAF], sample->leaf);
        bytes_byte(&to[END], (uint8_t)(sample->end << 4 | sample->state));
        time_us = chunk_sample_us(chunk, numbers[i]);
        cpu = sample->cpu;
    }
    columns_end(columns, out);
}

struct sample_reading {
    struct column list[COLUMNS];
    const struct piece *piece;
    const struct frame_numbers *numbers;
    struct chunk *chunk;
    uint32_t sources; /* so many the chunk has */
    int64_t shift_us, time_us, cpu;
    uint64_t offset;
};

static const char *read_frame(struct sample_reading *reading, uint64_t *out)
{
    uint64_t module = column_varint(&reading->list[MODULE]), number;

    reading->offset += (uint64_t)column_signed(&reading->list[OFFSET]);
    if (module > MODULES_MAX || (module && !reading->numbers->modules[module]))
        return "a frame is of a module that is not there";
    if (reading->offset >> 48)
        return "a frame's offset is out of range";
    number = reading->offset;
    if (module && reading->numbers->named[module])
        number = map64_find(&reading->numbers->names, number);
    *out = FRAME_KEY(module ? reading->numbers->modules[module] : 0, number);
    return NULL;
}

static const char *read_node(struct sample_reading *reading, uint32_t number,
                             struct chunk_node *out)
{
    uint64_t back = column_varint(&reading->list[PARENT]);
    uint64_t frame = column_varint(&reading->list[NODE_FRAME]);

    if (back >= number)
        return "a node's parent is not before it";
    if (!frame || frame >= (uint64_t)reading->piece->first_frame + reading->piece->frames)
        return "a node's frame is not there";
    *out = (struct chunk_node){ (uint16_t)(back ? number - back : 0), (uint16_t)frame };
    return NULL;
}

static const char *read_numbers(struct sample_reading *reading, struct chunk_sample *out)
{
    const struct piece *piece = reading->piece;
    uint64_t source = column_varint(&reading->list[SOURCE]);
    uint64_t caller = column_varint(&reading->list[CALLER]);
    uint64_t leaf = column_varint(&reading->list[LEAF]);

    if (source >= reading->sources)
        return "a sample's source is not there";
    if (caller && caller >= (uint64_t)piece->first_node + piece->nodes)
        return "a sample's caller is not there";
    if (!leaf || leaf >= (uint64_t)piece->first_frame + piece->frames)
        return "a sample's leaf is not there";
    out->source = (uint16_t)source;
    out->caller = (uint16_t)caller;
    out->leaf = (uint16_t)leaf;
    return NULL;
}

static const char *read_sample(struct sample_reading *reading, struct chunk_sample *out)
{
    const struct piece *piece = reading->piece;
    uint8_t end = column_byte(&reading->list[END]);

    reading->time_us += column_signed(&reading->list[TIME]);
    reading->cpu += column_signed(&reading->list[CPU]);
    if (reading->time_us < piece->min_us || reading->time_us > piece->max_us)
        return "a sample's time is out of range";
    if (reading->cpu < 0 || reading->cpu > UINT32_MAX)
        return "a sample's CPU time is out of range";
    out->time = (uint32_t)(reading->time_us + reading->shift_us - reading->chunk->base_us);
    out->cpu = (uint32_t)reading->cpu;
    out->end = end >> 4;
    out->state = end & 15;
    return read_numbers(reading, out);
}

/* NULL: they are all there, and nothing else. */
static const char *check_columns(const struct sample_reading *reading)
{
    for (int column = 0; column < COLUMNS; column++) {
        if (reading->list[column].bad)
            return "its columns are too short";
        if (reading->list[column].at != reading->list[column].end)
            return "its columns are too long";
    }
    return NULL;
}

const char *sample_columns_read(const struct bytes *content, const struct piece *piece,
                                uint32_t sources, const struct frame_numbers *numbers,
                                int64_t shift_us, struct chunk *chunk)
{
    struct sample_reading reading = { .piece = piece,
                                      .numbers = numbers,
                                      .chunk = chunk,
                                      .sources = sources,
                                      .shift_us = shift_us,
                                      .time_us = piece->min_us };
    const char *reason = NULL;

    if (!columns_split(content->data, content->count, reading.list, COLUMNS))
        return "its columns are not whole";
    for (uint32_t i = piece->first_frame; i < piece->first_frame + piece->frames && !reason; i++)
        reason = read_frame(&reading, &chunk->frames[i]);
    for (uint32_t i = piece->first_node; i < piece->first_node + piece->nodes && !reason; i++)
        reason = read_node(&reading, i, &chunk->nodes[i]);
    for (uint32_t i = 0; i < piece->samples && !reason; i++)
        reason = read_sample(&reading, &chunk->samples[piece->first_sample + i]);
    return reason ? reason : check_columns(&reading);
}
