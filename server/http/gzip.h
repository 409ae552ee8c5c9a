/*
 * gzip.h - an answer whose format has gzip around it (RFC 1952), packed piece by piece.
 *
 * Ownership  What gzip_pack lends lives until its next call.
 * Errors     -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_GZIP_H
#define ISOSCOPE_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gzip;

int gzip_new(struct gzip **out);
void gzip_free(struct gzip *gzip); /* NULL is fine */

/* The next piece; it may come out empty. */
int gzip_pack(struct gzip *gzip, const void *bytes, size_t size, bool ends, const uint8_t **out,
              size_t *out_size);

#endif
