#include "frame_texts.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

/* Short texts are copied as one block of this size: most of a reply are stacks of such. */
enum { SLACK = 16 };

int frame_texts_begin(struct frame_texts *texts, uint32_t capacity)
{
    texts->starts = calloc((size_t)capacity + 1, sizeof(*texts->starts));
    return texts->starts ? 0 : -ISOSCOPE_NO_MEMORY;
}

void frame_texts_add(struct frame_texts *texts)
{
    size_t length = texts->text.length - texts->starts[texts->count];

    texts->starts[++texts->count] = texts->text.length;
    if (length > texts->longest)
        texts->longest = length;
}

int frame_texts_end(struct frame_texts *texts)
{
    json_text_raw(&texts->text, (char[SLACK]){ 0 }, SLACK);
    return texts->text.failed ? -ISOSCOPE_NO_MEMORY : 0;
}

void frame_texts_free(struct frame_texts *texts)
{
    json_text_free(&texts->text);
    free(texts->starts);
}

void frame_texts_put(const struct frame_texts *texts, struct json_text *to, const uint32_t *frames,
                     uint32_t depth)
{
    char *begin = json_text_reserve(to, (size_t)depth * texts->longest + SLACK + 2);
    char *at = begin;

    if (!begin)
        return;
    for (uint32_t i = 0; i < depth; i++) {
        size_t start = texts->starts[frames[i]];
        size_t length = texts->starts[frames[i] + 1] - start;

        memcpy(at, texts->text.data + start, SLACK);
        if (length > SLACK)
            memcpy(at + SLACK, texts->text.data + start + SLACK, length - SLACK);
        at += length;
    }
    at += at == begin;
    *begin = '['; /* in place of the first comma */
    *at++ = ']';
    to->length = (size_t)(at - to->data);
}
