/*
 * sample_words.h - what a sample says of itself, in the wire's words.
 */
#ifndef ISOSCOPE_SAMPLE_WORDS_H
#define ISOSCOPE_SAMPLE_WORDS_H

#include "../text/json_writer.h"
#include "../../sampler/profile/snapshot.h"

/* What the thread was doing. */
const char *sample_vm_tag(uint8_t state);
/* Why its stack is not whole; NULL: it is, or nobody knows. */
const char *sample_end_word(enum feed_end end);

/* What it waited for: feed_wait. */
const char *sample_wait_word(uint8_t what);

/* The members of a CpuSample, but for its stack. */
void sample_members(struct json_text *text, const struct snapshot_sample *sample);

#endif
