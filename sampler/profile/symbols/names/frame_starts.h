/*
 * frame_starts.h - where functions begin according to a module's unwind data.
 *
 * A stripped program has no names, but its .eh_frame_hdr still lists every function's start: with
 * it, the samples of a nameless function are one function and not as many as it has instructions.
 *
 * Units      ELF virtual addresses.
 * Ownership  The user's struct: all zeros is empty, frame_starts_free ends it.
 * Errors     0 or -ISOSCOPE_NO_MEMORY. A table that is missing or nonsense is empty.
 */
#ifndef ISOSCOPE_FRAME_STARTS_H
#define ISOSCOPE_FRAME_STARTS_H

#include "../files/elf_file.h"

#include <stdbool.h>
#include <stdint.h>

struct frame_starts {
    uint64_t *starts; /* ascending */
    uint32_t count;
    uint64_t end; /* of the module's code */
};

int frame_starts_read(struct frame_starts *out, struct elf_file *file);
void frame_starts_free(struct frame_starts *frames);

/* The last start at or before the address; false: there is none, or no code is there. */
bool frame_starts_find(const struct frame_starts *frames, uint64_t address, uint64_t *start);
/* The first start behind the address; where there is none, the end of the code. */
uint64_t frame_starts_next(const struct frame_starts *frames, uint64_t address);

#endif
