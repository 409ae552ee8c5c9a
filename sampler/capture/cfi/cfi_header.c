#include "cfi.h"
#include "cfi_cursor.h"

#include <string.h>

bool cfi_header_read(struct cfi_header *out, const struct cfi_bytes *header)
{
    struct cfi_cursor cursor = { header->bytes, header->bytes + header->size, false };
    uint8_t frame_encoding, count_encoding, table_encoding;
    uint64_t version = take_bytes(&cursor, 1);

    frame_encoding = (uint8_t)take_bytes(&cursor, 1);
    count_encoding = (uint8_t)take_bytes(&cursor, 1);
    table_encoding = (uint8_t)take_bytes(&cursor, 1);
    if (cursor.bad || version != 1 || frame_encoding == PE_OMIT)
        return false;
    *out = (struct cfi_header){ .header_vaddr = header->vaddr };
    out->eh_frame_vaddr =
        take_pointer(&cursor, frame_encoding, header->vaddr + (uint64_t)(cursor.at - header->bytes),
                     header->vaddr);
    if (cursor.bad)
        return false;
    /* Every linker writes the table so; another form is read without it. */
    if (count_encoding == PE_OMIT || table_encoding != (PE_DATAREL | PE_SDATA4))
        return true;
    out->fde_count = take_value(&cursor, count_encoding & 0x0f);
    out->table = cursor.at;
    if (cursor.bad || out->fde_count > (uint64_t)(cursor.end - cursor.at) / 8)
        out->fde_count = 0;
    return true;
}

uint64_t cfi_header_fde_vaddr(const struct cfi_header *header, uint64_t index)
{
    int32_t relative;

    memcpy(&relative, header->table + index * 8 + 4, sizeof relative);
    return header->header_vaddr + (uint64_t)(int64_t)relative;
}

SIGNAL_SAFE static uint64_t function_vaddr(const struct cfi_header *header, uint64_t index)
{
    int32_t relative;

    memcpy(&relative, header->table + index * 8, sizeof relative);
    return header->header_vaddr + (uint64_t)(int64_t)relative;
}

bool cfi_header_find(const struct cfi_header *header, uint64_t vaddr, uint64_t *fde_vaddr)
{
    uint64_t low = 0, high = header->fde_count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (function_vaddr(header, middle) <= vaddr)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    *fde_vaddr = cfi_header_fde_vaddr(header, low - 1);
    return true;
}
