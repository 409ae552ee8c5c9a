/*
 * waits_for_many.h - how many descriptors select waits for.
 */
#ifndef ISOSCOPE_WAITS_FOR_MANY_H
#define ISOSCOPE_WAITS_FOR_MANY_H

#include "../loops/loop_thread.h"

#include <stdbool.h>
#include <sys/select.h>

/* Sets end with the word that has the last descriptor, and may be larger than fd_set. */
static inline bool waits_for_many(int count, const fd_set *reads, const fd_set *writes,
                                  const fd_set *excepts)
{
    const fd_set *sets[] = { reads, writes, excepts };
    int found = 0;

    for (int word = 0; word * NFDBITS < count && found < LOOP_DESCRIPTORS_MIN; word++) {
        unsigned long any = 0;

        for (int i = 0; i < 3; i++)
            any |= sets[i] ? (unsigned long)__FDS_BITS(sets[i])[word] : 0;
        found += __builtin_popcountl(any);
    }
    return found >= LOOP_DESCRIPTORS_MIN;
}

#endif
