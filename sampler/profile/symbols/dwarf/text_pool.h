/*
 * text_pool.h - texts that are put together once and kept.
 *
 * Ownership  The user's struct: all zeros is empty, text_pool_free ends it and its texts.
 * Errors     text_pool_keep: NULL: out of memory.
 */
#ifndef ISOSCOPE_TEXT_POOL_H
#define ISOSCOPE_TEXT_POOL_H

#include <stddef.h>
#include <stdint.h>

struct text_pool {
    char **texts; /* by hash; NULL: free */
    uint32_t count, capacity;
    size_t bytes;
};

/* The pool's copy, the same for equal texts. */
const char *text_pool_keep(struct text_pool *pool, const char *text);
void text_pool_free(struct text_pool *pool);

#endif
