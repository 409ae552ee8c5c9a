#include "frame_starts.h"

#include "../../../include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

/* Linux Standard Base 5.0, 10.6.2: version, three encodings, .eh_frame's address, a count, then
 * pairs of (function, FDE). Every linker writes these encodings; others are left alone. */
enum {
    HEADER_BYTES = 12,
    PAIR_BYTES = 8,
    VERSION = 1,
    COUNT_UDATA4 = 0x03,
    TABLE_DATAREL_SDATA4 = 0x3b,
};

static uint32_t pair_count(const uint8_t *bytes, uint64_t size)
{
    uint32_t count;

    if (size < HEADER_BYTES || bytes[0] != VERSION || bytes[2] != COUNT_UDATA4 ||
        bytes[3] != TABLE_DATAREL_SDATA4)
        return 0;
    memcpy(&count, bytes + HEADER_BYTES - sizeof(count), sizeof(count));
    return count <= (size - HEADER_BYTES) / PAIR_BYTES ? count : 0;
}

static int by_address(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

int frame_starts_read(struct frame_starts *out, struct elf_file *file)
{
    uint64_t size, address, code;
    const uint8_t *bytes = elf_file_section(file, ".eh_frame_hdr", &size, &address);
    uint32_t count = bytes ? pair_count(bytes, size) : 0;

    bool sorted = true;

    *out = (struct frame_starts){ 0 };
    if (!count)
        return 0;
    elf_file_code(file, &code, &out->end);
    out->starts = calloc(count, sizeof(*out->starts));
    if (!out->starts)
        return -ISOSCOPE_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        int32_t relative;

        memcpy(&relative, bytes + HEADER_BYTES + (size_t)i * PAIR_BYTES, sizeof(relative));
        out->starts[i] = address + (uint64_t)(int64_t)relative;
        sorted = sorted && (i == 0 || out->starts[i - 1] <= out->starts[i]);
    }
    if (!sorted) /* the linker sorts them; a file may lie */
        qsort(out->starts, count, sizeof(*out->starts), by_address);
    out->count = count;
    return 0;
}

void frame_starts_free(struct frame_starts *frames)
{
    free(frames->starts);
    *frames = (struct frame_starts){ 0 };
}

/* How many starts lie at or before the address. */
static uint32_t count_up_to(const struct frame_starts *frames, uint64_t address)
{
    uint32_t low = 0, high = frames->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (frames->starts[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool frame_starts_find(const struct frame_starts *frames, uint64_t address, uint64_t *start)
{
    uint32_t count = address < frames->end ? count_up_to(frames, address) : 0;

    if (count == 0)
        return false;
    *start = frames->starts[count - 1];
    return true;
}

uint64_t frame_starts_next(const struct frame_starts *frames, uint64_t address)
{
    uint32_t count = count_up_to(frames, address);

    return count < frames->count ? frames->starts[count] : frames->end;
}
