#include "gzip.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <zlib.h>

enum {
    GZIP_WINDOW_BITS = 15 + 16, /* zlib's word for gzip */
    MEMORY_LEVEL = 8,
    GROWTH_BYTES = 16 * 1024,
};

struct gzip {
    z_stream packer;
    uint8_t *packed; /* grows */
    size_t capacity;
};

int gzip_new(struct gzip **out)
{
    struct gzip *gzip = calloc(1, sizeof(*gzip));

    if (!gzip)
        return -ISOSCOPE_NO_MEMORY;
    if (deflateInit2(&gzip->packer, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW_BITS,
                     MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(gzip);
        return -ISOSCOPE_NO_MEMORY;
    }
    *out = gzip;
    return 0;
}

void gzip_free(struct gzip *gzip)
{
    if (!gzip)
        return;
    deflateEnd(&gzip->packer);
    free(gzip->packed);
    free(gzip);
}

static bool grow(struct gzip *gzip)
{
    uint8_t *packed = realloc(gzip->packed, gzip->capacity + GROWTH_BYTES);

    if (!packed)
        return false;
    gzip->packed = packed;
    gzip->capacity += GROWTH_BYTES;
    return true;
}

int gzip_pack(struct gzip *gzip, const void *bytes, size_t size, bool ends, const uint8_t **out,
              size_t *out_size)
{
    z_stream *packer = &gzip->packer;
    size_t length = 0;

    packer->next_in = (Bytef *)(uintptr_t)bytes;
    packer->avail_in = (uInt)size;
    do { /* until it leaves room: then it has no more to give */
        if (length == gzip->capacity && !grow(gzip))
            return -ISOSCOPE_NO_MEMORY;
        packer->next_out = gzip->packed + length;
        packer->avail_out = (uInt)(gzip->capacity - length);
        deflate(packer, ends ? Z_FINISH : Z_NO_FLUSH);
        length = gzip->capacity - packer->avail_out;
    } while (!packer->avail_out);
    *out = gzip->packed;
    *out_size = length;
    return 0;
}

static int unpack_all(z_stream *stream, gzip_take *take, void *context)
{
    uint8_t piece[GROWTH_BYTES];
    int came = Z_OK;

    while (came == Z_OK) {
        stream->next_out = piece;
        stream->avail_out = sizeof(piece);
        came = inflate(stream, Z_NO_FLUSH);
        if (came != Z_OK && came != Z_STREAM_END)
            return came == Z_MEM_ERROR ? -ISOSCOPE_NO_MEMORY : -ISOSCOPE_INVALID;
        if (!take(context, piece, sizeof(piece) - stream->avail_out, came == Z_STREAM_END))
            return -ISOSCOPE_NO_MEMORY;
    }
    return 0;
}

int gzip_unpack(const void *packed, size_t size, gzip_take *take, void *context)
{
    z_stream stream = { .next_in = (Bytef *)(uintptr_t)packed, .avail_in = (uInt)size };
    int status;

    if (inflateInit2(&stream, GZIP_WINDOW_BITS) != Z_OK)
        return -ISOSCOPE_NO_MEMORY;
    status = unpack_all(&stream, take, context);
    inflateEnd(&stream);
    return status;
}
