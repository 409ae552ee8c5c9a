#include "stack_numbers.h"

#include "../../base/grow.h"

/* Its number; 0: it is new, and has one now. */
static uint32_t number_of(struct map64 *map, uint64_t key, uint32_t *count)
{
    bool added;
    uint32_t *place = map64_put(map, key, &added), number = place ? *place : 0;

    if (place && !number)
        *place = ++*count;
    return number;
}

static void write_new(struct bytes *column, uint32_t number, uint32_t *max)
{
    bytes_signed(column, (int64_t)number - *max);
    *max = number > *max ? number : *max;
}

void stack_write(struct stack_writing *writing, uint16_t caller, uint16_t leaf,
                 const struct stack_columns *to)
{
    uint32_t number = number_of(&writing->callers, caller, &writing->caller_count);
    uint32_t none = 0, *count;
    bool added;

    bytes_varint(to->caller, number);
    if (!number)
        write_new(to->new_caller, caller, &writing->caller_max);
    count = map64_put(&writing->leaf_counts, caller, &added);
    number = number_of(&writing->leaves, (uint64_t)caller << 16 | leaf, count ? count : &none);
    bytes_varint(to->leaf, number);
    if (!number)
        write_new(to->new_leaf, leaf, &writing->leaf_max);
}

void stack_writing_free(struct stack_writing *writing)
{
    map64_free(&writing->callers);
    map64_free(&writing->leaves);
    map64_free(&writing->leaf_counts);
    *writing = (struct stack_writing){ 0 };
}

/* False: it cannot be. */
static bool read_new(struct column *column, uint32_t *max, uint32_t below, uint16_t *out)
{
    int64_t number;

    if (__builtin_add_overflow(column_signed(column), *max, &number) || number < 0 ||
        number >= below)
        return false;
    *out = (uint16_t)number;
    *max = number > *max ? (uint32_t)number : *max;
    return true;
}

/* Returns the caller's list; NULL: it cannot be, or (no_memory) is none. */
static struct leaf_list *read_caller(struct stack_reading *reading,
                                     const struct stack_column_readers *from, uint32_t callers,
                                     uint16_t *caller, bool *no_memory)
{
    uint64_t number = column_varint(from->caller);

    if (number) {
        if (number > reading->caller_count)
            return NULL;
        *caller = reading->callers[number - 1];
        return &reading->lists[number - 1];
    }
    *no_memory = !GROW(reading->callers, reading->caller_count, reading->caller_capacity) ||
                 !GROW(reading->lists, reading->caller_count, reading->list_capacity);
    if (*no_memory || !read_new(from->new_caller, &reading->caller_max, callers, caller))
        return NULL;
    reading->callers[reading->caller_count] = *caller;
    reading->lists[reading->caller_count] = (struct leaf_list){ 0 };
    return &reading->lists[reading->caller_count++];
}

const char *stack_read(struct stack_reading *reading, const struct stack_column_readers *from,
                       uint32_t callers, uint32_t leaves, uint16_t *caller, uint16_t *leaf)
{
    bool no_memory = false;
    struct leaf_list *list = read_caller(reading, from, callers, caller, &no_memory);
    uint64_t number = column_varint(from->leaf);

    if (!list)
        return no_memory ? "out of memory" : "a sample's caller is not there";
    if (number > list->count)
        return "a sample's leaf is not there";
    if (number) {
        *leaf = list->leaves[number - 1];
        return NULL;
    }
    if (!GROW(list->leaves, list->count, list->capacity))
        return "out of memory";
    if (!read_new(from->new_leaf, &reading->leaf_max, leaves, leaf) || !*leaf)
        return "a sample's leaf is not there";
    list->leaves[list->count++] = *leaf;
    return NULL;
}

void stack_reading_free(struct stack_reading *reading)
{
    for (uint32_t i = 0; i < reading->caller_count; i++)
        free(reading->lists[i].leaves);
    free(reading->lists);
    free(reading->callers);
    *reading = (struct stack_reading){ 0 };
}
