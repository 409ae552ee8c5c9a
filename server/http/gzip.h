/*
 * gzip.h - what has gzip around it (RFC 1952), packed and unpacked piece by piece.
 *
 * Ownership  What gzip_pack lends lives until its next call.
 * Errors     -ISOSCOPE_NO_MEMORY; of gzip_unpack -ISOSCOPE_INVALID, too: it is no gzip, or not whole.
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

/* What was packed, to take, in pieces; the last says that it ends. False: there is no memory. */
typedef bool gzip_take(void *context, const uint8_t *bytes, size_t size, bool ends);
int gzip_unpack(const void *packed, size_t size, gzip_take *take, void *context);

#endif
