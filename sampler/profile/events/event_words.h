/*
 * event_words.h - what few events have, beside the 16 bytes that all have: as words of 64 bits.
 *
 *     head | start, duration (wide) | id | depth | names of arguments 3 and 4 | values of arguments
 *
 * Threads    Pure functions.
 */
#ifndef ISOSCOPE_EVENT_WORDS_H
#define ISOSCOPE_EVENT_WORDS_H

#include "event_chunk.h"

enum { EVENT_WORDS_MAX = 6 + FEED_EVENT_ARGUMENTS_MAX };

struct event_extra {
    bool wide; /* start and duration do not fit into the entry */
    bool has_id, has_depth;
    int64_t start_ns;
    uint64_t duration_ns, id;
    uint32_t depth;
    uint32_t argument_count;
    struct event_extra_argument {
        uint16_t name; /* text's number */
        uint8_t type;
        uint64_t word; /* of a text: its number */
    } arguments[FEED_EVENT_ARGUMENTS_MAX];
};

/* Returns how many words it takes. */
uint32_t event_words_write(const struct event_extra *extra, uint64_t words[EVENT_WORDS_MAX]);
/* Returns how many words it took. */
uint32_t event_words_read(const uint64_t *words, struct event_extra *out);
/* No more than that. */
uint32_t event_words_count(const uint64_t *words);

#endif
