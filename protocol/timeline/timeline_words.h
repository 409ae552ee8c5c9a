/*
 * timeline_words.h - what the wire calls kinds of events, and what becomes of their ids and values.
 */
#ifndef ISOSCOPE_TIMELINE_WORDS_H
#define ISOSCOPE_TIMELINE_WORDS_H

#include "../text/json_writer.h"
#include "../../sampler/profile/timeline.h"

extern const char *const timeline_kind_words[TIMELINE_KINDS];
/* NULL for a whole one. */
const char *timeline_mark_word(enum timeline_mark mark);

static inline bool timeline_kind_has_id(enum timeline_kind kind)
{
    return (kind >= TIMELINE_ASYNC_BEGIN && kind <= TIMELINE_FLOW_END) || kind == TIMELINE_FRAME;
}

/* A JSON value; a number that JSON has none for is a text. */
void timeline_put_value(struct json_text *text, const struct timeline_argument *argument);
/* With its quotes: "1f". */
void timeline_put_id(struct json_text *text, uint64_t id);
/* Its value as a number; 0 where it is a text. */
double timeline_number(const struct timeline_argument *argument);

#endif
