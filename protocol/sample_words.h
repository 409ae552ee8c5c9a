/*
 * sample_words.h - what a sample says of itself, in the wire's words.
 */
#ifndef ISOSCOPE_SAMPLE_WORDS_H
#define ISOSCOPE_SAMPLE_WORDS_H

#include "../sampler/profile/snapshot.h"

/* What the thread was doing. */
const char *sample_vm_tag(uint8_t state);
/* The tag it had set, or else its name; both may be NULL. */
const char *sample_user_tag(const char *tag, const char *thread_name);
/* Why its stack is not whole; NULL: it is, or nobody knows. */
const char *sample_end_word(enum feed_end end);

#endif
