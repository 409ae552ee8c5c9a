/*
 * start_objects.h - the objects a program was started with: nothing ever unloads them.
 *
 *   our constructor, the loader's list -> their dynamic sections -> modules asks of each image
 *
 * They are those up to the loader itself, and of the rest of the list what one of them needs. (A
 * library's constructor may have loaded more before ours runs; that may go again.)
 *
 * Threads    start_objects_note: from our constructor, where the list stands still, and before the
 *            first tick. start_objects_hold: any, then.
 */
#ifndef ISOSCOPE_START_OBJECTS_H
#define ISOSCOPE_START_OBJECTS_H

#include "../../feed/signal_safe.h"

#include <stdbool.h>
#include <stdint.h>

/* Only the first call does it. */
void start_objects_note(void);

/* Whether the program is Go without cgo, built as PIE: the loader starts it, and it calls the kernel
 * without libc. Its threads have none of libc's memory, and its signal handlers are not heard of.
 * From our constructor. */
bool start_objects_are_go_alone(void);

/* Whether what is mapped from start to end is one of them. False for all until they are noted, and
 * for those beyond the first 512. */
SIGNAL_SAFE bool start_objects_hold(uint64_t start, uint64_t end);

#endif
