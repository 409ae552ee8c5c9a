/*
 * waits_for_many.h - how many descriptors select waits for.
 */
#ifndef ISOSCOPE_WAITS_FOR_MANY_H
#define ISOSCOPE_WAITS_FOR_MANY_H

#include "../loops/loop_thread.h"
#include "is_readable.h"

#include <stdbool.h>
#include <sys/select.h>

/* A set ends with the word that has the last descriptor, and may be larger than fd_set. Where it is not to be read,
 * select says so. */
static inline bool waits_for_many(int count, const fd_set *reads, const fd_set *writes,
                                  const fd_set *excepts)
{
    const fd_set *sets[] = { reads, writes, excepts };
    size_t words = count > 0 ? ((size_t)count + NFDBITS - 1) / NFDBITS : 0;
    int found = 0;

    for (int i = 0; words && i < 3; i++)
        if (sets[i] && !is_readable(sets[i], words * READABLE_WORD))
            return false;
    for (size_t word = 0; word < words && found < LOOP_DESCRIPTORS_MIN; word++) {
        unsigned long any = 0;

        for (int i = 0; i < 3; i++)
            any |= sets[i] ? (unsigned long)__FDS_BITS(sets[i])[word] : 0;
        found += __builtin_popcountl(any);
    }
    return found >= LOOP_DESCRIPTORS_MIN;
}

#endif
