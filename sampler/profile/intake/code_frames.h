/*
 * code_frames.h - frames of a runtime's functions, as a feed has them, into stored ones.
 *
 *   FEED_FRAME_CODE(id, position) -> feed_reader_code (once for each id) -> codes, registry
 *     -> FRAME_KEY(module of its file, CODE_OFFSET)
 *
 * A file's name that is no absolute path is looked for where the process works at that time: the module is
 * that file, if it is there. Where there is no room for the code or its file, the frame has its name
 * alone, in "[interpreted]".
 *
 * Ownership  All zeros is empty; code_frames_free ends it.
 * Threads    Whoever holds the collector's round.
 * Errors     An id that means nothing is code in no module.
 */
#ifndef ISOSCOPE_CODE_FRAMES_H
#define ISOSCOPE_CODE_FRAMES_H

#include "../../feed/feed_reader.h"
#include "../base/map64.h"
#include "../naming/registry.h"
#include "module_set.h"
#include "v8_lines.h"

struct code_frames {
    struct map64 by_id; /* id -> place in frames + 1 */
    uint64_t *frames;   /* of position 0 */
    uint32_t count, capacity;
    uint8_t *buffer; /* of feed_reader_code */
    struct v8_lines v8;
};

/* pid: as it is here; 0: not known. met: the modules that are new to the process are added. */
uint64_t code_frame(struct code_frames *known, struct feed_reader *reader, int32_t pid,
                    uint64_t feed_frame, struct registry *registry, struct module_set *met);
void code_frames_free(struct code_frames *known);

#endif
