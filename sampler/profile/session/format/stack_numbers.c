#include "stack_numbers.h"

#include "../../base/grow.h"

void stack_write(struct stack_writing *writing, const struct chunk *chunk, uint16_t caller,
                 uint16_t leaf, const struct stack_columns *to)
{
    uint32_t number = number_of(&writing->callers, caller, &writing->caller_count);
    uint32_t none = 0, *count;
    bool added;

    bytes_varint(to->caller, number);
    if (!number)
        above_write(to->new_caller, caller, &writing->caller_max);
    count = map64_put(&writing->leaf_counts, caller, &added);
    number = number_of(&writing->leaves, (uint64_t)caller << 16 | leaf, count ? count : &none);
    bytes_varint(to->leaf, number);
    if (!number)
        callee_write(&writing->callees, chunk->nodes[caller].frame, leaf, to->new_leaf,
                     to->new_frame);
}

void stack_writing_free(struct stack_writing *writing)
{
    map64_free(&writing->callers);
    map64_free(&writing->leaves);
    map64_free(&writing->leaf_counts);
    callee_writing_free(&writing->callees);
    *writing = (struct stack_writing){ 0 };
}

/* Returns the caller's list; NULL: it cannot be, or (no_memory) is none. */
static struct frame_list *read_caller(struct stack_reading *reading,
                                      const struct stack_column_readers *from, uint32_t nodes,
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
    if (*no_memory || !above_read(from->new_caller, &reading->caller_max, nodes, caller))
        return NULL;
    reading->callers[reading->caller_count] = *caller;
    reading->lists[reading->caller_count] = (struct frame_list){ 0 };
    return &reading->lists[reading->caller_count++];
}

const char *stack_read(struct stack_reading *reading, const struct chunk *chunk,
                       const struct stack_column_readers *from, uint32_t nodes, uint32_t frames,
                       uint16_t *caller, uint16_t *leaf)
{
    bool no_memory = false;
    struct frame_list *list = read_caller(reading, from, nodes, caller, &no_memory);
    uint64_t number = column_varint(from->leaf);
    const char *reason;

    if (!list)
        return no_memory ? "out of memory" : "a sample's caller is not there";
    if (number > list->count)
        return "a sample's leaf is not there";
    if (number) {
        *leaf = list->frames[number - 1];
        return NULL;
    }
    if (!GROW(list->frames, list->count, list->capacity))
        return "out of memory";
    reason = callee_read(&reading->callees, from->new_leaf, from->new_frame,
                         chunk->nodes[*caller].frame, frames, leaf);
    if (!reason)
        list->frames[list->count++] = *leaf;
    return reason;
}

void stack_reading_free(struct stack_reading *reading)
{
    for (uint32_t i = 0; i < reading->caller_count; i++)
        free(reading->lists[i].frames);
    free(reading->lists);
    free(reading->callers);
    callee_reading_free(&reading->callees);
    *reading = (struct stack_reading){ 0 };
}
