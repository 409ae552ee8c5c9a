/*
 * blocks.h - the blocks of a session file: their heads, checksums and packing, both ways.
 *
 *   content -> packer (zstd) -> block -> file -> block_head_read -> unpacker -> content
 *
 * The contents of tables are one zstd frame that goes on from block to block, as are those of the
 * pieces of a chunk: each block ends with a flush, so that what is there can always be unpacked.
 *
 * Ownership  packer_new and unpacker_new make, packer_free and unpacker_free release.
 * Threads    One at a time.
 * Errors     0, -ISOSCOPE_NO_MEMORY; unpacker_read: -ISOSCOPE_DAMAGED.
 */
#ifndef ISOSCOPE_SESSION_BLOCKS_H
#define ISOSCOPE_SESSION_BLOCKS_H

#include "bytes.h"

enum {
    SESSION_VERSION = 1,
    SESSION_HEAD_BYTES = 16,
    BLOCK_HEAD_BYTES = 20,
    BLOCK_BYTES_MAX = 1 << 24, /* stored, and unpacked */
};

/* Which frame a block's content belongs to. */
enum block_frame {
    BLOCK_FRAME_TABLES, /* of all tables of the file */
    BLOCK_FRAME_CHUNK,  /* of the pieces of a chunk */
    BLOCK_FRAME_OWN,
    BLOCK_FRAME_COUNT
};

struct packer;

int packer_new(struct packer **out);
void packer_free(struct packer *packer); /* NULL is fine */
/* The frame ends; the next block of its kind begins one. */
void packer_restart(struct packer *packer, enum block_frame frame);
/* Appends a block. type: four letters. 0, -ISOSCOPE_NO_MEMORY, or -ISOSCOPE_LIMIT: it is too large. */
int packer_block(struct packer *packer, struct bytes *out, const char *type, enum block_frame frame,
                 const struct bytes *content);
/* What a file begins with. */
void session_head_put(struct bytes *out);

struct block_head {
    char type[5];
    uint32_t stored, unpacked, checksum;
};

/* False: it is none. */
bool block_head_read(const uint8_t bytes[BLOCK_HEAD_BYTES], struct block_head *out);
uint32_t block_checksum(const void *bytes, size_t count);

struct unpacker;

int unpacker_new(struct unpacker **out);
void unpacker_free(struct unpacker *unpacker); /* NULL is fine */
void unpacker_restart(struct unpacker *unpacker);
/* The content of the next block of a frame, into content, which is emptied first. */
int unpacker_read(struct unpacker *unpacker, const uint8_t *stored, size_t count, size_t unpacked,
                  struct bytes *content);

#endif
