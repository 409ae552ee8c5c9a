/*
 * feed_reader_state.h - a feed_reader's own state, for the files that read different rings of it.
 *
 * Threads    As feed_reader.h.
 */
#ifndef ISOSCOPE_FEED_READER_STATE_H
#define ISOSCOPE_FEED_READER_STATE_H

#include "feed_reader.h"
#include "ring.h"

/* Where the reading of a thread's rings is. */
struct slot_places {
    struct ring_place samples, events;
};

struct feed_reader {
    struct feed_header layout;  /* copied once and checked; the feed's own is not looked at again */
    struct feed_header *shared; /* control and status only */
    struct feed_thread *threads;
    struct feed_loop *loops;
    struct feed_module *modules;
    struct feed_runtime *runtimes; /* ours to write */
    const char *names;
    const uint8_t *codes;
    const uint8_t *rings, *event_rings;
    uint64_t corrupt, unknown;
    struct slot_places *places;       /* by slot */
    char **paths;                     /* by module number: copied when first asked for */
    uint32_t places_room, paths_room; /* many programs end before either is asked for */
    union feed_any record;
};

enum found { FOUND_NONE, FOUND_SKIPPED, FOUND_LATER, FOUND_NEXT };

/* Copies a name of names, whoever else reads. False: there is none there. */
bool feed_reader_copy_name(const struct feed_reader *reader, uint32_t place,
                           char name[FEED_NAME_MAX + 1]);
/* From then on reader->places has the slot. False: there is no memory. */
bool feed_reader_reach_place(struct feed_reader *reader, uint32_t slot);
/* The ring's next record, into reader->record. False when there is none. */
bool feed_reader_read(struct feed_reader *reader, struct ring_reader *ring);
/* Counts what it was found to be, and gives its room back. */
enum found feed_reader_found(struct feed_reader *reader, struct ring_reader *ring,
                             enum feed_record_is is);

#endif
