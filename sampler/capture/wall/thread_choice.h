/*
 * thread_choice.h - which threads wall mode samples: those whose name or tid the service's list
 * has.
 *
 *   setFlag profile_wall_threads -> feed control -> thread_choice -> wall.h, in each round
 *
 * A list is made of patterns with commas between them, blanks around them do not count: "*" any
 * thread, "pool-*" any name that begins so ('*' stands for any characters), "1234" also the thread
 * with that tid, as the program sees it.
 *
 * Threads    The sampler's thread.
 * Errors     None.
 */
#ifndef ISOSCOPE_THREAD_CHOICE_H
#define ISOSCOPE_THREAD_CHOICE_H

#include "../../feed/segment.h"

#include <stdbool.h>
#include <stdint.h>

/* The feed is another: its first list is new, whatever it is. */
void thread_choice_forget(void);
/* Once a round, before the first thread_chosen: the list as it is now. */
void thread_choice_follow(const struct segment *segment);
/* What was found out before holds while list, thread and name stay what they are. */
bool thread_chosen(const struct segment *segment, uint32_t slot, int32_t tid);

/* For thread_chosen and its tests. list, name: end with 0. */
bool thread_choice_matches(const char *list, const char *name, int32_t tid);

#endif
