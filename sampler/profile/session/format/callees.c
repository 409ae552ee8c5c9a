#include "callees.h"

#include "../../base/grow.h"

uint32_t number_of(struct map64 *map, uint64_t key, uint32_t *count)
{
    bool added;
    uint32_t *place = map64_put(map, key, &added), number = place ? *place : 0;

    if (place && !number)
        *place = ++*count;
    return number;
}

void above_write(struct bytes *column, uint32_t number, uint32_t *max)
{
    bytes_signed(column, (int64_t)number - *max);
    *max = number > *max ? number : *max;
}

bool above_read(struct column *column, uint32_t *max, uint32_t below, uint16_t *out)
{
    int64_t number;

    if (__builtin_add_overflow(column_signed(column), *max, &number) || number < 0 ||
        number >= below)
        return false;
    *out = (uint16_t)number;
    *max = number > *max ? (uint32_t)number : *max;
    return true;
}

void callee_write(struct callee_writing *writing, uint16_t caller, uint16_t callee,
                  struct bytes *number, struct bytes *new_frame)
{
    uint32_t none = 0, known, *count;
    bool added;

    count = map64_put(&writing->counts, caller, &added);
    known = number_of(&writing->numbers, (uint64_t)caller << 16 | callee, count ? count : &none);
    bytes_varint(number, known);
    if (!known)
        above_write(new_frame, callee, &writing->frame_max);
}

void callee_writing_free(struct callee_writing *writing)
{
    map64_free(&writing->numbers);
    map64_free(&writing->counts);
    *writing = (struct callee_writing){ 0 };
}

/* NULL: no memory. */
static struct frame_list *list_of(struct callee_reading *reading, uint16_t caller)
{
    while (reading->list_count <= caller) {
        if (!GROW(reading->lists, reading->list_count, reading->list_capacity))
            return NULL;
        reading->lists[reading->list_count++] = (struct frame_list){ 0 };
    }
    return &reading->lists[caller];
}

const char *callee_read(struct callee_reading *reading, struct column *number,
                        struct column *new_frame, uint16_t caller, uint32_t frames,
                        uint16_t *callee)
{
    struct frame_list *list = list_of(reading, caller);
    uint64_t known = column_varint(number);

    if (!list)
        return "out of memory";
    if (known > list->count)
        return "a callee is not there";
    if (known) {
        *callee = list->frames[known - 1];
        return NULL;
    }
    if (!GROW(list->frames, list->count, list->capacity))
        return "out of memory";
    if (!above_read(new_frame, &reading->frame_max, frames, callee) || !*callee)
        return "a callee's frame is not there";
    list->frames[list->count++] = *callee;
    return NULL;
}

void callee_reading_free(struct callee_reading *reading)
{
    for (uint32_t i = 0; i < reading->list_count; i++)
        free(reading->lists[i].frames);
    free(reading->lists);
    *reading = (struct callee_reading){ 0 };
}
