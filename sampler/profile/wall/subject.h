/*
 * subject.h - one profiled program, as the rounds of wall mode see it: its code and its threads.
 *
 *   rounds.h (when) -> subject_round -> watched.h, for each thread that thread_choice.h has chosen
 *
 * Threads    The rounds' thread; its code's modules and paused: any.
 * Errors     subject_new: 0 or -ISOSCOPE_NO_MEMORY. What cannot be read of a program is counted in
 *            its feed.
 */
#ifndef ISOSCOPE_SUBJECT_H
#define ISOSCOPE_SUBJECT_H

#include "program_code.h"
#include "round.h"
#include "thread_choice.h"

#include <stdbool.h>
#include <stdint.h>

struct subject {
    struct subject *next; /* the list of rounds.h */
    struct rounds *rounds;
    struct feed_writer writer; /* the feed, mapped by its reader */
    struct feed_head head;     /* as it was at first */
    int32_t pid;               /* here; 0: it has none */
    struct program_code code;
    struct far_code named;
    struct thread_choice choice;
    struct by_slot watched;
    struct sleeper_scan *scan; /* NULL: none was needed yet */
    bool scanned;              /* at the last look */
    uint32_t runtimes;         /* that were known then */
    _Atomic bool paused;       /* any thread says so */
    bool no_switches;
    bool begun;               /* some thread was looked at */
    bool still;               /* at the last looks none had run since the ones before */
    uint64_t ran_ns;          /* round.ran_ns of the last round */
    int64_t held_us;          /* the last one; 0: none */
    int64_t round_us, due_us; /* the next round, and when it is held; 0: there is none */
    uint32_t random;
};

int subject_new(struct subject **out, const struct feed_writer *writer, int32_t pid,
                struct mapped_tables *tables);
void subject_free(struct subject *subject); /* NULL is fine */

/* Of the rounds that it wants; 0: none. */
uint32_t subject_period_us(const struct subject *subject);
/* One round. memory: of the caller, for this round alone. Returns when the next one has something
 * to look at. */
int64_t subject_round(struct subject *subject, struct round *memory, int64_t now_us);
/* For a look beside the rounds, in any mode: memory says how the program is read now, with what is known of its code.
 * False: it is not to be read, as it has ended or become another one. */
bool subject_begin_look(struct subject *subject, struct round *memory, int64_t now_us);
void subject_end_look(struct subject *subject, struct round *memory);
/* No rounds any more: nothing is known of any thread. */
void subject_forget(struct subject *subject);
/* As that, at the program's end: what its threads owe is told. */
void subject_finish(struct subject *subject, struct round *memory, int64_t now_us);

#endif
