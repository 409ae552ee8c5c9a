/*
 * record_names.h - the files of a recording that rotates: how they are called, and which of them
 * are still there.
 *
 * Ownership  The user's struct: all zeros is none, record_names_free ends it.
 */
#ifndef ISOSCOPE_SESSION_RECORD_NAMES_H
#define ISOSCOPE_SESSION_RECORD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_names {
    char **paths; /* the oldest first */
    uint32_t count, capacity;
};

/* path, with the wall clock's time before its ending: day-20260131-235959.isoscope, in UTC. One that
 * is there is not taken. */
void record_names_next(const char *path, int64_t wall_us, char *out, size_t size);
/* It was written; what is beyond keep (0: nothing is) is removed from the disk. */
void record_names_add(struct record_names *names, const char *path, uint32_t keep);
void record_names_free(struct record_names *names);

#endif
