/*
 * grow.h - room for one more at the end of an array that doubles.
 *
 *     if (!GROW(rows, row_count, row_capacity))
 *         return -ISOSCOPE_NO_MEMORY;
 *     rows[row_count++] = row;
 *
 * False: out of memory; the array is as it was.
 */
#ifndef ISOSCOPE_GROW_H
#define ISOSCOPE_GROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define GROW(array, count, capacity)                                                               \
    ((count) < (capacity) || ({                                                                    \
         void *grown_ = grow_array((array), &(capacity), sizeof(*(array)));                        \
         if (grown_)                                                                               \
             (array) = grown_;                                                                     \
         grown_ != NULL;                                                                           \
     }))

static inline void *grow_array(void *array, uint32_t *capacity, size_t element_bytes)
{
    /* By the element's size, so that arrays which grow together do not all move in one turn. */
    uint32_t more = *capacity ? *capacity * 2 : 64 + (uint32_t)element_bytes / 4;
    void *larger = NULL;

    if (more > *capacity)
        larger = reallocarray(array, more, element_bytes);
    if (larger)
        *capacity = more;
    return larger;
}

#endif
