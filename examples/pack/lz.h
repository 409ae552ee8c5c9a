/*
 * lz.h - a text made smaller: what was there before is said as "so far back, so many bytes".
 *
 * A packed text is a row of pieces. 0 to 127: so many bytes + 1 follow. 128 to 255: a repetition
 * of so many - 128 + 4 bytes, whose distance is in the next two.
 */
#ifndef PACK_LZ_H
#define PACK_LZ_H

#include <stddef.h>

/* How large packed text can become. */
size_t lz_bound(size_t size);
/* effort: how many earlier places are tried for each. Gives the packed size. */
size_t lz_pack(char *packed, const char *text, size_t size, unsigned effort);
/* Gives the size of the text, which must have room. */
size_t lz_unpack(char *text, const char *packed, size_t packed_size);

#endif
