/*
 * elf_image.h - what the memory of a mapped ELF file says of itself.
 *
 * Threads    The sampler's thread. Memory is read through memory.h: it may go at any time.
 * Errors     false or NULL: not ELF, not this machine's, gone, or nonsense.
 */
#ifndef ISOSCOPE_ELF_IMAGE_H
#define ISOSCOPE_ELF_IMAGE_H

#include "../../feed/layout.h"

#include <stdbool.h>
#include <stdint.h>

struct elf_image {
    uint64_t bias;
    uint8_t build_id[FEED_BUILD_ID_MAX];
    uint32_t build_id_bytes;
    uint64_t eh_frame_hdr, eh_frame_hdr_bytes; /* vaddr; 0 bytes: there is none */
    struct {
        uint64_t vaddr, bytes, memory_bytes; /* bytes: those from the file */
    } segments[8];                           /* PT_LOAD */
    uint32_t segment_count;
};

/* start: where the file's first byte is mapped. */
bool elf_image_read(struct elf_image *out, uint64_t start);
/* Whether a page at this address is one of the image's, by its program headers. */
bool elf_image_holds(const struct elf_image *image, uint64_t address);

#endif
