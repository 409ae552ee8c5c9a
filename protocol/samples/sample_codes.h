/*
 * sample_codes.h - the stacks of a reply by code: "_codes", and the samples' "_codeStack".
 *
 * A code is what the compiler made of one function, with all that it inlined there. So there is one
 * for each function, of the same index; that of a function that was only seen inlined has no ticks.
 * What a stack of codes lacks beside that of functions are the inlined ones.
 *
 * Ownership  The user's struct: all zeros is none wanted, sample_codes_free ends it.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_SAMPLE_CODES_H
#define ISOSCOPE_SAMPLE_CODES_H

#include "frame_texts.h"
#include "../../sampler/profile/snapshot.h"

struct code_ticks {
    uint64_t inclusive, exclusive;
    uint32_t sample; /* the last one that it was counted for, from 1 on */
};

struct sample_codes {
    const struct snapshot_frame *frames;
    struct frame_texts texts;
    struct code_ticks *ticks; /* by function; NULL: no codes are wanted */
    uint32_t samples;         /* counted so far */
};

int sample_codes_begin(struct sample_codes *codes, const struct snapshot_frame *frames,
                       uint32_t frame_count, uint32_t function_count);
/* Each of the frames, in their order; then texts is ended. */
void sample_codes_add(struct sample_codes *codes, const struct snapshot_frame *frame);
void sample_codes_free(struct sample_codes *codes);

/* Counts the sample, and writes its stack in brackets. */
void sample_codes_stack(struct sample_codes *codes, struct json_text *text,
                        const struct snapshot_sample *sample);

#endif
