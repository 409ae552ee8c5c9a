/*
 * stall_words.h - the wire's words of stalls and loops, and times as the wire has them.
 */
#ifndef ISOSCOPE_STALL_WORDS_H
#define ISOSCOPE_STALL_WORDS_H

#include "../../sampler/profile/stalls.h"

extern const char *const stall_level_words[STALL_LEVEL_COUNT];
extern const char *const stall_cause_words[STALL_CAUSE_COUNT];
extern const char *const loop_kind_words[FEED_LOOP_KIND_COUNT];
extern const char *const watch_words[FEED_WATCH_COUNT];

/* In microseconds: no tighter than it was. */
struct stall_range stall_range_us(struct stall_range ns);
/* In milliseconds: its middle. */
int64_t stall_range_ms(struct stall_range ns);

/* stall_watch as text: a word of watch_words, or the names. */
const char *stall_watch_text(const struct stall_settings *settings);
/* 0: it is not known. */
int32_t stall_pid(struct profile *profile, uint64_t process_id);

#endif
