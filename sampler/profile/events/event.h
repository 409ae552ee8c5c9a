/*
 * event.h - an event on its way into the store: what a program told, in words of its process.
 *
 *   intake/drain_events -> event -> event_store (pairs, keeps)
 *
 * Units      *_ns: CLOCK_MONOTONIC nanoseconds.
 * Ownership  All is lent, but what event_arguments_copy makes.
 */
#ifndef ISOSCOPE_PROFILE_EVENT_H
#define ISOSCOPE_PROFILE_EVENT_H

#include "../timeline.h"

/* A text. Those with one key are equal, for as long as the profile lives; 0: it has none. */
struct event_word {
    const char *text; /* bytes of it, and no end */
    uint32_t bytes;
    uint64_t key;
};

#define EVENT_WORD(literal) ((struct event_word){ (literal), (uint32_t)strlen(literal), 0 })

struct event_argument {
    struct event_word name;
    enum feed_argument_type type;
    union {
        uint64_t word; /* INT, UINT and DOUBLE, as its bits */
        struct event_word text;
    };
};

struct event {
    enum timeline_kind kind;
    bool complete;        /* as timeline_event's */
    int64_t start_ns;     /* not negative */
    uint64_t duration_ns; /* SLICE, FRAME */
    uint64_t id;
    struct event_word name, stream;
    uint32_t argument_count;
    const struct event_argument *arguments;
};

/* Both, one list behind the other, in one piece from malloc with their texts; but words with a key are
 * only lent, unless all is copied: then none has one, and all end with zeros. NULL: no memory. */
struct event_argument *event_arguments_copy(const struct event_argument *first,
                                            uint32_t first_count,
                                            const struct event_argument *second,
                                            uint32_t second_count, bool all);

#endif
