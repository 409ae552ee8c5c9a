#include "lock_names.h"

#include <inttypes.h>
#include <stdio.h>

/* With names of their own: few programs have many; those that do have no use for all of them. */
enum { LOCKS_MAX = 4096, NAME_BYTES = 96 };

static void write_name(struct lock_names *locks, int32_t pid, uint64_t address, const char *what,
                       int64_t round_us, char name[NAME_BYTES])
{
    struct shared_place place;

    if (locks->round_us != round_us) {
        shared_maps_read(&locks->shared, pid);
        locks->round_us = round_us;
    }
    if (shared_maps_find(&locks->shared, address, &place))
        snprintf(name, NAME_BYTES, "shared %s %x:%x:%" PRIu64 "+0x%" PRIx64, what, place.dev_major,
                 place.dev_minor, place.inode, place.offset);
    else
        snprintf(name, NAME_BYTES, "%s 0x%" PRIx64, what, address);
}

uint32_t lock_names_number(struct lock_names *locks, int32_t pid, uint64_t address,
                           const char *what, int64_t round_us, struct names *names)
{
    char name[NAME_BYTES];
    bool added = false;
    uint32_t *number = NULL;

    if (locks->numbers.count < LOCKS_MAX || map64_find(&locks->numbers, address))
        number = map64_put(&locks->numbers, address, &added);
    if (!number) {
        snprintf(name, sizeof(name), "a %s", what);
        return names_number(names, name);
    }
    if (added) {
        write_name(locks, pid, address, what, round_us, name);
        *number = names_number(names, name);
    }
    return *number;
}

void lock_names_free(struct lock_names *locks)
{
    map64_free(&locks->numbers);
    shared_maps_free(&locks->shared);
    *locks = (struct lock_names){ 0 };
}
