#include "blocks.h"

#include "../../../include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* LEVEL: what a higher one gains is below a percent, and costs as much again. WINDOW_LOG: what
 * a reader keeps for a frame that goes on. UNPACK_STEP: memory is taken as it is filled. */
enum { LEVEL = 6, WINDOW_LOG = 20, WINDOW_LOG_MAX = 24, UNPACK_STEP = 256 * 1024 };

static const uint8_t magic[8] = { 0x89, 'I', 'S', 'O', '\r', '\n', 0x1a, '\n' };

struct packer {
    ZSTD_CCtx *frames[BLOCK_FRAME_COUNT];
};

static bool set_up(ZSTD_CCtx *context)
{
    return context &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL)) &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, WINDOW_LOG));
}

int packer_new(struct packer **out)
{
    struct packer *packer = calloc(1, sizeof(*packer));

    for (int i = 0; packer && i < BLOCK_FRAME_COUNT; i++) {
        packer->frames[i] = ZSTD_createCCtx();
        if (set_up(packer->frames[i]))
            continue;
        packer_free(packer);
        packer = NULL;
    }
    if (!packer)
        return -ISOSCOPE_NO_MEMORY;
    *out = packer;
    return 0;
}

void packer_free(struct packer *packer)
{
    for (int i = 0; packer && i < BLOCK_FRAME_COUNT; i++)
        ZSTD_freeCCtx(packer->frames[i]);
    free(packer);
}

void packer_restart(struct packer *packer, enum block_frame frame)
{
    ZSTD_CCtx_reset(packer->frames[frame], ZSTD_reset_session_only);
}

static int pack(struct packer *packer, struct bytes *out, enum block_frame frame,
                const struct bytes *content)
{
    ZSTD_inBuffer in = { content->data, content->count, 0 };
    ZSTD_EndDirective mode = frame == BLOCK_FRAME_OWN ? ZSTD_e_end : ZSTD_e_flush;
    size_t left;

    do {
        size_t room = ZSTD_compressBound(in.size - in.pos) + 64;
        ZSTD_outBuffer to = { bytes_reserve(out, room), room, 0 };

        if (!to.dst)
            return -ISOSCOPE_NO_MEMORY;
        left = ZSTD_compressStream2(packer->frames[frame], &to, &in, mode);
        if (ZSTD_isError(left))
            return -ISOSCOPE_NO_MEMORY;
        out->count += to.pos;
    } while (left);
    return 0;
}

static void put_head(struct bytes *out, size_t at, const char *type, size_t unpacked)
{
    struct bytes head = { out->data + at, 0, BLOCK_HEAD_BYTES, false };
    const uint8_t *stored = out->data + at + BLOCK_HEAD_BYTES;
    size_t count = out->count - at - BLOCK_HEAD_BYTES;

    bytes_put(&head, type, 4);
    bytes_u32(&head, (uint32_t)count);
    bytes_u32(&head, (uint32_t)unpacked);
    bytes_u32(&head, block_checksum(stored, count));
    bytes_u32(&head, block_checksum(head.data, head.count));
}

int packer_block(struct packer *packer, struct bytes *out, const char *type, enum block_frame frame,
                 const struct bytes *content)
{
    size_t at = out->count;
    int error;

    if (content->failed || !bytes_reserve(out, BLOCK_HEAD_BYTES))
        return -ISOSCOPE_NO_MEMORY;
    if (content->count > BLOCK_BYTES_MAX)
        return -ISOSCOPE_LIMIT;
    if (frame == BLOCK_FRAME_OWN)
        packer_restart(packer, frame);
    out->count += BLOCK_HEAD_BYTES;
    error = pack(packer, out, frame, content);
    if (!error && out->count - at > BLOCK_BYTES_MAX)
        error = -ISOSCOPE_LIMIT;
    if (error)
        out->count = at;
    else
        put_head(out, at, type, content->count);
    return error;
}

void session_head_put(struct bytes *out)
{
    bytes_put(out, magic, sizeof(magic));
    bytes_u32(out, SESSION_VERSION);
    bytes_u32(out, 0);
}

uint32_t block_checksum(const void *bytes, size_t count)
{
    return (uint32_t)crc32_z(0, bytes, count);
}

bool block_head_read(const uint8_t bytes[BLOCK_HEAD_BYTES], struct block_head *out)
{
    *out = (struct block_head){ .stored = bytes_read_u32(bytes + 4),
                                .unpacked = bytes_read_u32(bytes + 8),
                                .checksum = bytes_read_u32(bytes + 12) };
    memcpy(out->type, bytes, 4);
    return bytes_read_u32(bytes + 16) == block_checksum(bytes, 16) &&
           out->stored <= BLOCK_BYTES_MAX && out->unpacked <= BLOCK_BYTES_MAX;
}

struct unpacker {
    ZSTD_DCtx *context;
};

int unpacker_new(struct unpacker **out)
{
    struct unpacker *unpacker = calloc(1, sizeof(*unpacker));

    if (unpacker)
        unpacker->context = ZSTD_createDCtx();
    if (!unpacker || !unpacker->context) {
        free(unpacker);
        return -ISOSCOPE_NO_MEMORY;
    }
    ZSTD_DCtx_setParameter(unpacker->context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    *out = unpacker;
    return 0;
}

void unpacker_free(struct unpacker *unpacker)
{
    if (unpacker)
        ZSTD_freeDCtx(unpacker->context);
    free(unpacker);
}

void unpacker_restart(struct unpacker *unpacker)
{
    ZSTD_DCtx_reset(unpacker->context, ZSTD_reset_session_only);
}

/* -ISOSCOPE_DAMAGED when it comes to no more, or to more than it said. */
int unpacker_read(struct unpacker *unpacker, const uint8_t *stored, size_t count, size_t unpacked,
                  struct bytes *content)
{
    ZSTD_inBuffer in = { stored, count, 0 };

    bytes_clear(content);
    for (;;) {
        /* One more than it says, to see what it does not say. */
        size_t left = unpacked + 1 - content->count;
        size_t room = left < UNPACK_STEP ? left : UNPACK_STEP;
        ZSTD_outBuffer to = { bytes_reserve(content, room), room, 0 };
        size_t result;

        if (!to.dst)
            return -ISOSCOPE_NO_MEMORY;
        result = ZSTD_decompressStream(unpacker->context, &to, &in);
        content->count += to.pos;
        if (ZSTD_isError(result) || content->count > unpacked)
            return -ISOSCOPE_DAMAGED;
        if (to.pos < to.size && (in.pos == in.size || !to.pos))
            break;
    }
    return content->count == unpacked && in.pos == in.size ? 0 : -ISOSCOPE_DAMAGED;
}
