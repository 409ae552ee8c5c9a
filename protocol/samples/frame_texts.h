/*
 * frame_texts.h - each frame of a reply composed once, and copied into every stack that has it.
 *
 * Ownership  The user's struct: all zeros is empty, frame_texts_free ends it.
 * Errors     -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_FRAME_TEXTS_H
#define ISOSCOPE_FRAME_TEXTS_H

#include "../text/json_writer.h"

struct frame_texts {
    struct json_text text; /* each with a comma in front, and some slack behind the last */
    size_t *starts;        /* one more than there are frames */
    size_t longest;
    uint32_t count;
};

int frame_texts_begin(struct frame_texts *texts, uint32_t capacity);
/* The next frame is what was appended to texts->text since the one before. */
void frame_texts_add(struct frame_texts *texts);
int frame_texts_end(struct frame_texts *texts);
void frame_texts_free(struct frame_texts *texts);

/* A stack: those frames in brackets. A frame without text is left out. */
void frame_texts_put(const struct frame_texts *texts, struct json_text *to, const uint32_t *frames,
                     uint32_t depth);

#endif
