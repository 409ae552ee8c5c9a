/*
 * elf_image.h - what the memory of a mapped ELF file says of itself.
 *
 * Threads    Any, each with scratch memory of its own. Memory is read through memory.h: it may go at any time.
 * Errors     false or NULL: not ELF, not this machine's, gone, or nonsense.
 */
#ifndef ISOSCOPE_ELF_IMAGE_H
#define ISOSCOPE_ELF_IMAGE_H

#include "../../feed/layout.h"
#include "../../feed/signal_safe.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

enum { ELF_PHDRS_MAX = 32, ELF_NOTES_BYTES_MAX = 1024, ELF_HEAD_BYTES = 1024 };

/* The caller's, for what is read on the way: too much for the stack of a tick. */
struct elf_scratch {
    /* Headers and notes mostly stand in a file's first bytes, which are read at once. */
    struct elf_head {
        int32_t pid;
        uint64_t start;
        long bytes; /* so many were there, or -errno */
        uint8_t text[ELF_HEAD_BYTES];
    } head;
    Elf64_Phdr phdrs[ELF_PHDRS_MAX];
    uint8_t notes[ELF_NOTES_BYTES_MAX];
};

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

/* pid: whose; 0 is oneself. start: where the file's first byte is mapped. */
SIGNAL_SAFE bool elf_image_read(struct elf_image *out, struct elf_scratch *scratch, int32_t pid,
                                uint64_t start);
/* Whether a mapping of [low, high) is one of the image's, by its program headers. */
SIGNAL_SAFE bool elf_image_holds(const struct elf_image *image, uint64_t low, uint64_t high);

#endif
