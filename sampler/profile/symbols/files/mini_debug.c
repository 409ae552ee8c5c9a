#include "mini_debug.h"

#include "../../../feed/cleanup.h"

#include <lzma.h>
#include <stdlib.h>

enum {
    PACKED_BYTES_MAX = 32 << 20,
    UNPACKED_BYTES_MAX = 64 << 20,  /* real ones have a few, also of large programs */
    UNPACKER_BYTES_MAX = 128 << 20, /* xz -9 wants 65 MiB */
    FIRST_BYTES = 1 << 20,
};

struct unpacked {
    uint8_t *bytes;
    size_t count, capacity;
};

static bool grow_unpacked(struct unpacked *out)
{
    size_t capacity = out->capacity ? 2 * out->capacity : FIRST_BYTES;
    uint8_t *bytes = capacity <= UNPACKED_BYTES_MAX ? realloc(out->bytes, capacity) : NULL;

    if (!bytes)
        return false;
    out->bytes = bytes;
    out->capacity = capacity;
    return true;
}

/* False: damaged, cut off, or too large. */
static bool unpack(lzma_stream *stream, struct unpacked *out)
{
    lzma_ret result = LZMA_OK;

    while (result == LZMA_OK) {
        if (out->count == out->capacity && !grow_unpacked(out))
            return false;
        stream->next_out = out->bytes + out->count;
        stream->avail_out = out->capacity - out->count;
        result = lzma_code(stream, LZMA_FINISH);
        out->count = out->capacity - stream->avail_out;
    }
    return result == LZMA_STREAM_END;
}

struct elf_file *mini_debug_open(struct elf_file *file)
{
    CLEANUP(lzma_end) lzma_stream stream = LZMA_STREAM_INIT;
    struct unpacked unpacked = { 0 };
    uint64_t size, address;
    const char *reason;

    stream.next_in = elf_file_section(file, ".gnu_debugdata", &size, &address);
    if (!stream.next_in || size > PACKED_BYTES_MAX ||
        lzma_stream_decoder(&stream, UNPACKER_BYTES_MAX, 0) != LZMA_OK)
        return NULL;
    stream.avail_in = size;
    if (unpack(&stream, &unpacked))
        return elf_file_open_image(unpacked.bytes, unpacked.count, &reason);
    free(unpacked.bytes);
    return NULL;
}
