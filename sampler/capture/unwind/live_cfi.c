#include "live_cfi.h"

#include <dlfcn.h>

#ifdef DLFO_STRUCT_HAS_EH_DBASE
/* Weak: an older libc has none, and the library still loads there. */
extern int _dl_find_object(void *pc, struct dl_find_object *result) __attribute__((weak));

SIGNAL_SAFE_INLINE bool find_image(uint64_t pc, struct cfi_bytes *image, struct cfi_bytes *header)
{
    struct dl_find_object object;

    if (!_dl_find_object || _dl_find_object((void *)pc, &object) != 0 || !object.dlfo_eh_frame)
        return false;
    image->bytes = object.dlfo_map_start;
    image->vaddr = (uint64_t)object.dlfo_map_start;
    image->size = (uint64_t)object.dlfo_map_end - image->vaddr;
    header->bytes = object.dlfo_eh_frame;
    header->vaddr = (uint64_t)object.dlfo_eh_frame;
    header->size = image->vaddr + image->size - header->vaddr;
    return true;
}
#else
SIGNAL_SAFE_INLINE bool find_image(uint64_t pc, struct cfi_bytes *image, struct cfi_bytes *header)
{
    (void)pc;
    (void)image;
    (void)header;
    return false;
}
#endif

bool live_cfi_rule(uint64_t pc, struct cfi_rule *rule, bool *signal_frame)
{
    struct cfi_bytes image, header_bytes;
    struct cfi_header header;
    struct cfi_program program;
    struct cfi_rule row;
    uint64_t fde, from;

    if (!find_image(pc, &image, &header_bytes) || !cfi_header_read(&header, &header_bytes) ||
        !cfi_header_find(&header, pc, &fde) ||
        !cfi_program_at(&program, &image, fde - image.vaddr) || pc < program.start ||
        pc >= program.end)
        return false;
    while (cfi_next_row(&program, &from, &row) && from <= pc)
        *rule = row;
    *signal_frame = program.signal_frame;
    return true;
}
