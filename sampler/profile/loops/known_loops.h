/*
 * known_loops.h - all loops of the profile, those that have ended too: their numbers and names.
 *
 *   loop_subject (a loop comes) -> known_loops -> loop_info (stalls.h)
 *
 * Ownership  It owns the loops; of ended ones the last KNOWN_ENDED_MAX. Texts live as long as it.
 * Threads    One at a time.
 * Errors     0 or -ISOSCOPE_NO_MEMORY; NULL is that, too.
 */
#ifndef ISOSCOPE_KNOWN_LOOPS_H
#define ISOSCOPE_KNOWN_LOOPS_H

#include "watched_loop.h"

enum { KNOWN_ENDED_MAX = 1024 };

struct names;

struct known_loops {
    struct watched_loop **list; /* by number */
    uint32_t count, capacity;
    uint32_t ended;
    uint32_t last_number;
    struct names *texts;
};

int known_loops_new(struct known_loops *loops);
void known_loops_free(struct known_loops *loops);

/* With the next number. */
struct watched_loop *known_loops_add(struct known_loops *loops, uint64_t process_id);
/* One of them has ended. The oldest such may be forgotten. */
void known_loops_ended(struct known_loops *loops);
/* The text, for good; "": there is no room for it. */
const char *known_loops_text(struct known_loops *loops, const char *text);
/* process_id 0: of all. Returns how many there are; fills at most capacity. */
size_t known_loops_tell(const struct known_loops *loops, uint64_t process_id, struct loop_info *out,
                        size_t capacity);
/* Forgets what is counted. */
void known_loops_clear(struct known_loops *loops, uint64_t process_id);

#endif
