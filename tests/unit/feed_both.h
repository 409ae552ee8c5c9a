/*
 * feed_both.h - a feed with both of its ends, for tests that write at one and read at the other.
 *
 * Included behind cmocka.h.
 */
#ifndef ISOSCOPE_FEED_BOTH_H
#define ISOSCOPE_FEED_BOTH_H

#include "sampler/feed/feed_reader.h"
#include "sampler/feed/feed_writer.h"

struct both {
    struct feed_writer writer;
    struct feed_reader *reader;
};

static inline int make_both(void **state)
{
    struct both *both = calloc(1, sizeof *both);
    int memfd;

    assert_int_equal(feed_writer_create(&both->writer, &memfd, 4242, 1000), 0);
    assert_int_equal(feed_reader_open(&both->reader, memfd), 0);
    *state = both;
    return 0;
}

static inline int free_both(void **state)
{
    struct both *both = *state;

    feed_reader_free(both->reader);
    feed_writer_destroy(&both->writer);
    free(both);
    return 0;
}

#endif
