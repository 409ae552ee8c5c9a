#include "sample_columns.h"

#include "../../../feed/record.h"
#include "../../naming/registry.h"
#include "../../store/frame.h"

#include <stdlib.h>

enum {
    MODULE,
    OFFSET,
    PARENT,
    CALLEE,
    SOURCE,
    CPU,
    TIME,
    CALLER,
    NEW_CALLER,
    LEAF,
    NEW_LEAF,
    NEW_FRAME,
    END,
    COLUMNS,
    OBJECTS = COLUMNS, /* of kinds that are many */
    COLUMNS_OF_MANY,
    HOLDER = COLUMNS_OF_MANY, /* of waits */
    WHAT,
    COLUMNS_OF_WAITS
};

/* LOOKED_AT: so many samples say what the middle one is. */
enum { LOOKED_AT = 1024, CPU_PER_US = 1000 / 100 /* chunk_weight_unit */ };

static uint32_t columns_of(enum sample_kind kind)
{
    if (sample_kind_is_waits(kind))
        return COLUMNS_OF_WAITS;
    return sample_kind_is_many(kind) ? COLUMNS_OF_MANY : COLUMNS;
}

static void write_frames(const struct chunk *chunk, const struct piece *piece, struct bytes *to)
{
    uint64_t offset = 0;

    for (uint32_t i = piece->first_frame; i < piece->first_frame + piece->frames; i++) {
        bytes_varint(&to[MODULE], FRAME_KEY_MODULE(chunk->frames[i]));
        bytes_signed(&to[OFFSET], (int64_t)(FRAME_KEY_OFFSET(chunk->frames[i]) - offset));
        offset = FRAME_KEY_OFFSET(chunk->frames[i]);
    }
}

static void write_nodes(const struct chunk *chunk, const struct piece *piece,
                        struct callee_writing *callees, struct bytes *to)
{
    for (uint32_t i = piece->first_node; i < piece->first_node + piece->nodes; i++) {
        struct chunk_node node = chunk->nodes[i];

        bytes_varint(&to[PARENT], node.parent ? i - node.parent : 0);
        callee_write(callees, chunk->nodes[node.parent].frame, node.frame, &to[CALLEE],
                     &to[NEW_FRAME]);
    }
}

static uint32_t divisor_of(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

static int by_size(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

void sample_columns_measure(const struct store_view *view, const uint32_t *numbers,
                            struct piece *piece)
{
    uint32_t some[LOOKED_AT], count = 0, step = piece->samples / LOOKED_AT + 1, unit = 0;

    for (uint32_t i = 0; i < piece->samples; i++) {
        uint32_t cpu = view->chunk->samples[numbers[i]].weight;

        unit = divisor_of(unit, cpu);
        if (i % step == 0)
            some[count++] = cpu;
    }
    qsort(some, count, sizeof(some[0]), by_size);
    piece->cpu_unit = unit ? unit : 1;
    piece->cpu_base = count ? some[count / 2] / piece->cpu_unit : 0;
}

/* When the next sample of a source is due that ran all the time. Other kinds are due at once. */
static int64_t due_us(const struct piece *piece, int64_t last_us, uint32_t weight)
{
    return piece->kind == SAMPLES_OF_TIME ? last_us + (weight + CPU_PER_US / 2) / CPU_PER_US
                                          : last_us;
}

/* NULL: no memory. */
static int64_t *last_times(uint32_t sources, int64_t first_us)
{
    int64_t *last_us = calloc((size_t)sources + 1, sizeof(*last_us));

    for (uint32_t i = 0; last_us && i < sources; i++)
        last_us[i] = first_us;
    return last_us;
}

/* What is told of kinds that are many, besides. */
static void write_many(const struct chunk *chunk, uint32_t number, struct bytes *to)
{
    struct sample_wait wait = chunk_sample_wait(chunk, number);

    if (sample_kind_is_many(chunk->kind))
        bytes_varint(&to[OBJECTS], chunk_sample_objects(chunk, number));
    if (!sample_kind_is_waits(chunk->kind))
        return;
    bytes_varint(&to[HOLDER], (uint32_t)wait.holder);
    bytes_byte(&to[WHAT], wait.what);
}

void sample_columns_write(const struct store_view *view, const struct piece *piece,
                          const uint32_t *numbers, struct stack_writing *stacks,
                          struct columns *columns, struct bytes *out)
{
    const struct chunk *chunk = view->chunk;
    struct bytes *to = columns->list;
    const struct stack_columns stack = { &to[CALLER], &to[NEW_CALLER], &to[LEAF], &to[NEW_LEAF],
                                         &to[NEW_FRAME] };
    int64_t *last_us = last_times(view->source_count, piece->min_us);

    columns_begin(columns, columns_of(piece->kind));
    out->failed |= !last_us;
    write_frames(chunk, piece, to);
    write_nodes(chunk, piece, &stacks->callees, to);
    for (uint32_t i = 0; last_us && i < piece->samples; i++) {
        const struct chunk_sample *sample = &chunk->samples[numbers[i]];
        int64_t time_us = chunk_sample_us(chunk, numbers[i]);

        bytes_varint(&to[SOURCE], sample->source);
        bytes_signed(&to[CPU], (int64_t)(sample->weight / piece->cpu_unit) - piece->cpu_base);
        bytes_signed(&to[TIME], time_us - due_us(piece, last_us[sample->source], sample->weight));
        stack_write(stacks, chunk, sample->caller, sample->leaf, &stack);
        bytes_byte(&to[END], (uint8_t)(sample->end << 4 | sample->state));
        write_many(chunk, numbers[i], to);
        last_us[sample->source] = time_us;
    }
    free(last_us);
    columns_end(columns, out);
}

struct sample_reading {
    struct column list[COLUMNS_OF_WAITS];
    const struct piece *piece;
    const struct frame_numbers *numbers;
    struct chunk *chunk;
    struct stack_reading *stacks;
    uint32_t sources; /* so many the chunk has */
    int64_t shift_us;
    int64_t *last_us; /* by source */
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
    if (module && reading->numbers->offsets[module] == OFFSETS_NAMES)
        number = map64_find(&reading->numbers->names, number);
    if (module && reading->numbers->offsets[module] == OFFSETS_CODES)
        number = code_numbers_find(&reading->numbers->codes, number);
    *out = FRAME_KEY(module ? reading->numbers->modules[module] : 0, number);
    return NULL;
}

static const char *read_node(struct sample_reading *reading, uint32_t number,
                             struct chunk_node *out)
{
    uint64_t back = column_varint(&reading->list[PARENT]);

    if (back >= number)
        return "a node's parent is not before it";
    out->parent = (uint16_t)(back ? number - back : 0);
    return callee_read(&reading->stacks->callees, &reading->list[CALLEE], &reading->list[NEW_FRAME],
                       reading->chunk->nodes[out->parent].frame,
                       reading->piece->first_frame + reading->piece->frames, &out->frame);
}

/* What is told of it before its stack. */
static const char *read_times(struct sample_reading *reading, struct chunk_sample *out)
{
    const struct piece *piece = reading->piece;
    uint64_t source = column_varint(&reading->list[SOURCE]);
    int64_t cpu, time_us;

    if (source >= reading->sources)
        return "a sample's source is not there";
    if (__builtin_add_overflow(column_signed(&reading->list[CPU]), piece->cpu_base, &cpu) ||
        cpu < 0 || cpu > UINT32_MAX / piece->cpu_unit)
        return piece->kind == SAMPLES_OF_TIME ? "a sample's CPU time is out of range"
                                              : "a sample's weight is out of range";
    out->source = (uint16_t)source;
    out->weight = (uint32_t)cpu * piece->cpu_unit;
    if (__builtin_add_overflow(column_signed(&reading->list[TIME]),
                               due_us(piece, reading->last_us[source], out->weight), &time_us) ||
        time_us < piece->min_us || time_us > piece->max_us)
        return "a sample's time is out of range";
    reading->last_us[source] = time_us;
    out->time = (uint32_t)(time_us + reading->shift_us - reading->chunk->base_us);
    return NULL;
}

static const char *read_sample(struct sample_reading *reading, struct chunk_sample *out)
{
    const struct piece *piece = reading->piece;
    struct column *list = reading->list;
    const struct stack_column_readers stack = { &list[CALLER], &list[NEW_CALLER], &list[LEAF],
                                                &list[NEW_LEAF], &list[NEW_FRAME] };
    uint8_t end = column_byte(&list[END]);
    const char *reason = read_times(reading, out);

    out->end = end >> 4;
    out->state = end & 15;
    if (reason)
        return reason;
    return stack_read(reading->stacks, reading->chunk, &stack, piece->first_node + piece->nodes,
                      piece->first_frame + piece->frames, &out->caller, &out->leaf);
}

/* What is told of kinds that are many, besides. */
static const char *read_many(struct sample_reading *reading, uint32_t number)
{
    struct chunk *chunk = reading->chunk;
    struct sample_wait wait;
    uint64_t objects, holder;
    uint8_t what; /* a later isoscope's word is whatever the program makes of it */

    if (!sample_kind_is_many(chunk->kind))
        return NULL;
    objects = column_varint(&reading->list[OBJECTS]);
    if (objects > UINT32_MAX)
        return "a sample's objects are out of range";
    chunk->objects[number] = (uint32_t)objects;
    if (!sample_kind_is_waits(chunk->kind))
        return NULL;
    holder = column_varint(&reading->list[HOLDER]);
    if (holder > CHUNK_WAIT_HOLDER(UINT32_MAX))
        return "a sample's holder is out of range";
    what = column_byte(&reading->list[WHAT]);
    wait = (struct sample_wait){ (int32_t)holder, what < FEED_WAIT_COUNT ? what : FEED_WAIT_FUTEX };
    chunk->waits[number] = CHUNK_WAIT(wait);
    return NULL;
}

/* NULL: they are all there, and nothing else. */
static const char *check_columns(const struct sample_reading *reading)
{
    for (uint32_t column = 0; column < columns_of(reading->piece->kind); column++) {
        if (reading->list[column].bad)
            return "its columns are too short";
        if (reading->list[column].at != reading->list[column].end)
            return "its columns are too long";
    }
    return NULL;
}

static const char *read_all(struct sample_reading *reading)
{
    const struct piece *piece = reading->piece;
    struct chunk *chunk = reading->chunk;
    const char *reason = NULL;

    for (uint32_t i = piece->first_frame; i < piece->first_frame + piece->frames && !reason; i++)
        reason = read_frame(reading, &chunk->frames[i]);
    for (uint32_t i = piece->first_node; i < piece->first_node + piece->nodes && !reason; i++)
        reason = read_node(reading, i, &chunk->nodes[i]);
    for (uint32_t i = 0; i < piece->samples && !reason; i++) {
        reason = read_sample(reading, &chunk->samples[piece->first_sample + i]);
        if (!reason)
            reason = read_many(reading, piece->first_sample + i);
    }
    return reason ? reason : check_columns(reading);
}

const char *sample_columns_read(const struct bytes *content, const struct piece *piece,
                                uint32_t sources, const struct frame_numbers *numbers,
                                int64_t shift_us, struct stack_reading *stacks, struct chunk *chunk)
{
    struct sample_reading reading = { .piece = piece,
                                      .numbers = numbers,
                                      .chunk = chunk,
                                      .stacks = stacks,
                                      .sources = sources,
                                      .shift_us = shift_us,
                                      .last_us = last_times(sources, piece->min_us) };
    const char *reason = "its columns are not whole";

    if (!reading.last_us)
        reason = "out of memory";
    else if (columns_split(content->data, content->count, reading.list, columns_of(piece->kind)))
        reason = read_all(&reading);
    free(reading.last_us);
    return reason;
}
