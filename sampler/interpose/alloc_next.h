/*
 * alloc_next.h - what the functions of allocations stand before: the program's allocator, or libc's.
 *
 * Ours may be called before any constructor, and by dlsym itself: what is asked for in the middle
 * of a look is given from a small place of our own, and never comes back.
 *
 * Threads    Any.
 */
#ifndef ISOSCOPE_ALLOC_NEXT_H
#define ISOSCOPE_ALLOC_NEXT_H

/* One countdown for all that comes by here. */
#define ISOSCOPE_MEMORY_SHARED
#include "../include/isoscope/memory.h"
#include "next.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* next_call_find: NULL: there is none, or this thread is looking for one just now. Always ask for it
 * again: it is not there before the first look. */

/* Zeros. NULL: the place is full. */
void *early_take(size_t bytes, size_t align);
enum { EARLY_BYTES = 64 * 1024 };
extern char early_place[EARLY_BYTES] __attribute__((visibility("hidden")));
/* It is from there. */
static inline bool early_has(const void *address)
{
    return (uintptr_t)address - (uintptr_t)early_place < EARLY_BYTES;
}
/* Bytes from there to what was taken next, at most. */
size_t early_bytes(const void *address);

/* The address lies in the object that has the program's malloc. Takes no lock: an allocator asks the kernel for
 * memory under locks of its own, and the loader asks the allocator under the loader's. For the same reason
 * what the kernel is asked by is found in constructors. False until next_calls_settle. */
bool next_calls_are_of(const void *address);
void next_calls_settle(void);

/* Memory that the kernel gave, before isoscope_memory_sample is due for it; caller: whose call it was. What
 * an allocator gets is told by its malloc, so its own calls are left out: each byte has the same chance, and
 * that changes nothing for others. */
static inline void next_told(const void *place, size_t bytes, const void *caller)
{
    if (isoscope_memory_is_due(bytes))
        isoscope_memory_sample(&isoscope_memory_thread, next_calls_are_of(caller) ? NULL : place,
                               bytes);
}

#endif
