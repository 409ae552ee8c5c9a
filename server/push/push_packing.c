#include "push_packing.h"

#include "../http/gzip.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <zstd.h>

enum { PIECE_BYTES = 16 * 1024 };

const char *push_packing_name(enum push_packing packing)
{
    static const char *const names[] = {
        [PUSH_PLAIN] = NULL, [PUSH_GZIP] = "gzip", [PUSH_ZSTD] = "zstd"
    };

    return names[packing];
}

/* A pprof profile has gzip around it, which is its format's. */
enum push_packing push_packing_first(enum push_form form, bool zstd)
{
    if (form == PUSH_INGEST)
        return PUSH_PLAIN;
    return form == PUSH_OTLP && zstd ? PUSH_ZSTD : PUSH_GZIP;
}

enum push_packing push_packing_simpler(enum push_form form, enum push_packing packing)
{
    if (packing == PUSH_ZSTD)
        return PUSH_GZIP;
    return form == PUSH_API ? PUSH_PLAIN : packing; /* every OTLP receiver reads gzip */
}

bool push_packing_unread(long status)
{
    return status == 400 || status == 415 || status == 501;
}

int push_pack_gzip(struct json_text *out, const char *bytes, size_t length)
{
    struct gzip *gzip = NULL;
    const uint8_t *packed;
    size_t size;
    int status = gzip_new(&gzip);

    if (status == 0)
        status = gzip_pack(gzip, bytes, length, true, &packed, &size);
    if (status == 0)
        json_text_raw(out, (const char *)packed, size);
    gzip_free(gzip);
    return status == 0 && out->failed ? -ISOSCOPE_NO_MEMORY : status;
}

struct repacking {
    struct json_text *out;
    ZSTD_CCtx *packer;
};

/* Piece by piece, so that the unpacked profile is nowhere whole. */
static bool put_zstd(void *context, const uint8_t *bytes, size_t size, bool ends)
{
    struct repacking *to = context;
    char piece[PIECE_BYTES];
    ZSTD_inBuffer in = { bytes, size, 0 };
    size_t left;

    do {
        ZSTD_outBuffer packed = { piece, sizeof(piece), 0 };

        left = ZSTD_compressStream2(to->packer, &packed, &in, ends ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return false;
        json_text_raw(to->out, piece, packed.pos);
    } while (in.pos < in.size || (ends && left));
    return !to->out->failed;
}

int push_pack_zstd(struct json_text *out, const char *gzip, size_t length)
{
    struct repacking to = { .out = out, .packer = ZSTD_createCCtx() };
    int status = to.packer ? gzip_unpack(gzip, length, put_zstd, &to) : -ISOSCOPE_NO_MEMORY;

    ZSTD_freeCCtx(to.packer);
    return status;
}
