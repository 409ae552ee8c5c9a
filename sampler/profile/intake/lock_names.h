/*
 * lock_names.h - what locks are called that are in no module: "mutex 0x55d0c0de1230".
 *
 *   process_lock_frame (a wait for one) -> lock_names
 *
 * One in memory that processes share has the same name in each: "shared mutex 0:1a:5321+0x40", by the
 * memory's device, inode and the lock's offset in it. Where it lies is looked up when it is first met.
 *
 * Ownership  The user's struct; all zeros is empty.
 * Threads    One at a time.
 */
#ifndef ISOSCOPE_LOCK_NAMES_H
#define ISOSCOPE_LOCK_NAMES_H

#include "../base/map64.h"
#include "../outside/shared_maps.h"
#include "../store/names.h"

struct lock_names {
    struct map64 numbers;      /* address -> profile's number of its name */
    struct shared_maps shared; /* as they were at round_us */
    int64_t round_us;
};

/* round_us: of the caller's look at the process, in which its maps are read once at most. */
uint32_t lock_names_number(struct lock_names *locks, int32_t pid, uint64_t address,
                           const char *what, int64_t round_us, struct names *names);
void lock_names_free(struct lock_names *locks);

#endif
