/*
 * start_objects.h - the objects a program was started with: nothing ever unloads them.
 *
 *   our constructor -> where the loader's list ended -> modules, which asks of each image
 *
 * The list is read up to that place, which does not change: whatever is loaded later comes behind.
 * A library of ours that was loaded by dlopen counts only those up to the loader itself, which is
 * one of the first; libraries of libraries may then be taken for such that can go.
 *
 * Threads    start_objects_note: from the constructor, where the loader's lock is held. The other:
 *            any.
 */
#ifndef ISOSCOPE_START_OBJECTS_H
#define ISOSCOPE_START_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

void start_objects_note(void);

/* Whether what is mapped from start to end is one of them. False for all until they are noted. */
bool start_objects_hold(uint64_t start, uint64_t end);

#endif
