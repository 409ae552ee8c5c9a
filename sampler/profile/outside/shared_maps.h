/*
 * shared_maps.h - which memory a process shares with others, now: /proc/PID/maps.
 *
 * The same byte has the same device, inode and offset in each process that maps it, wherever that is.
 *
 * Ownership  The user's struct; all zeros is empty.
 * Threads    One at a time.
 */
#ifndef ISOSCOPE_SHARED_MAPS_H
#define ISOSCOPE_SHARED_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct shared_place {
    uint32_t dev_major, dev_minor;
    uint64_t inode, offset;
};

struct shared_maps {
    struct shared_map {
        uint64_t start, end;
        struct shared_place place; /* of start */
    } * list;
    uint32_t count, capacity;
};

/* Empty where the maps cannot be read, or there is no memory. */
void shared_maps_read(struct shared_maps *maps, int32_t pid);
/* False: it is in no shared memory. */
bool shared_maps_find(const struct shared_maps *maps, uint64_t address, struct shared_place *out);
void shared_maps_free(struct shared_maps *maps);

#endif
