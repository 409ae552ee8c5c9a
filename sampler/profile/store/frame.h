/*
 * frame.h - a stored frame: an address of a module, in 64 bits.
 *
 * Units      module: the profile's number (naming/registry.h); 16 bits. offset: an ELF virtual
 *            address of it; 48 bits.
 */
#ifndef ISOSCOPE_FRAME_H
#define ISOSCOPE_FRAME_H

#include <stdint.h>

/* Like FEED_FRAME, with the profile's module number in place of the process's own. */
#define FRAME_KEY(module, offset)                                                                  \
    ((uint64_t)(module) << 48 | ((offset) & ((UINT64_C(1) << 48) - 1)))
#define FRAME_KEY_MODULE(frame) ((uint32_t)((frame) >> 48))
#define FRAME_KEY_OFFSET(frame) ((frame) & ((UINT64_C(1) << 48) - 1))

#endif
