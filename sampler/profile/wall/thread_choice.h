/*
 * thread_choice.h - which threads wall mode samples: those whose name or tid the service's list
 * has.
 *
 *   setFlag profile_wall_threads -> feed control -> thread_choice -> subject.h, in each round
 *
 * A list is made of patterns with commas between them, blanks around them do not count: "*" any
 * thread, "pool-*" any name that begins so ('*' stands for any characters), "1234" also the thread
 * with that tid, as the program sees it.
 *
 * Ownership  The user's struct; all zeros is one that has heard of no list. thread_choice_free ends
 *            it.
 * Threads    One at a time.
 * Errors     None.
 */
#ifndef ISOSCOPE_THREAD_CHOICE_H
#define ISOSCOPE_THREAD_CHOICE_H

#include "../../capture/threads/by_slot.h"
#include "../../feed/feed_writer.h"

#include <stdbool.h>
#include <stdint.h>

struct thread_choice {
    uint32_t list_seq;                  /* of the list */
    char list[FEED_WALL_THREADS_BYTES]; /* "": any thread */
    struct by_slot known;
};

void thread_choice_free(struct thread_choice *choice);
/* Once a round, before the first thread_chosen: the list as it is now. */
void thread_choice_follow(struct thread_choice *choice, const struct feed_writer *writer);
/* What was found out before holds while list, thread and name stay what they are. */
bool thread_chosen(struct thread_choice *choice, const struct feed_writer *writer, uint32_t slot,
                   int32_t tid);

/* For thread_chosen and its tests. list, name: end with 0. */
bool thread_choice_matches(const char *list, const char *name, int32_t tid);

#endif
