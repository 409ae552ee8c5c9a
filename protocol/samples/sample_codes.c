#include "sample_codes.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>

int sample_codes_begin(struct sample_codes *codes, const struct snapshot_frame *frames,
                       uint32_t frame_count, uint32_t function_count)
{
    codes->frames = frames;
    codes->ticks = calloc((size_t)function_count + 1, sizeof(*codes->ticks));
    if (!codes->ticks || frame_texts_begin(&codes->texts, frame_count) < 0)
        return -ISOSCOPE_NO_MEMORY;
    return 0;
}

void sample_codes_add(struct sample_codes *codes, const struct snapshot_frame *frame)
{
    if (!frame->inlined) {
        json_text_literal(&codes->texts.text, ",");
        json_text_uint(&codes->texts.text, frame->function);
    }
    frame_texts_add(&codes->texts);
}

void sample_codes_free(struct sample_codes *codes)
{
    frame_texts_free(&codes->texts);
    free(codes->ticks);
}

/* A recursive function's code counts once. */
static void count_codes(struct sample_codes *codes, const struct snapshot_sample *sample)
{
    bool leaf = true;

    codes->samples++;
    for (uint32_t i = 0; i < sample->depth; i++) {
        const struct snapshot_frame *frame = &codes->frames[sample->frames[i]];
        struct code_ticks *ticks = &codes->ticks[frame->function];

        if (frame->inlined)
            continue;
        ticks->exclusive += leaf;
        ticks->inclusive += ticks->sample != codes->samples;
        ticks->sample = codes->samples;
        leaf = false;
    }
}

void sample_codes_stack(struct sample_codes *codes, struct json_text *text,
                        const struct snapshot_sample *sample)
{
    count_codes(codes, sample);
    frame_texts_put(&codes->texts, text, sample->frames, sample->depth);
}
