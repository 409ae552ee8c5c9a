/*
 * round.h - what the rounds write into a feed: samples of sleepers, and what running threads owe.
 *
 *   watched.h -> round_again, round_sample -> ring 0 -> drain.h
 *             -> round_owe -> feed_thread.owed -> capture/wall/answer.h, in the thread's next tick
 *
 * Units      Rounds that came late are told with those that should have been: rounds_ago says how
 *            many periods before now the first of them was due.
 * Threads    The rounds' thread alone writes ring 0.
 * Errors     None: what finds no room is counted as lost.
 */
#ifndef ISOSCOPE_ROUND_H
#define ISOSCOPE_ROUND_H

#include "../../capture/unwind/unwind.h"
#include "../../feed/feed_writer.h"
#include "far_code.h"
#include "switches.h"

#include <stdbool.h>
#include <stdint.h>

/* One round over one program. */
struct round {
    struct feed_writer *writer;
    int32_t pid;
    int64_t now_us;
    int64_t before_us; /* when the round before was held; 0: there was none */
    uint32_t period_us;
    const struct code_map *map; /* NULL: nothing is known of its code */
    struct far_code *named;
    bool *no_switches; /* switches_open was refused */
    bool unknown_code; /* a stack led into code that is not known */
    int64_t next_us;   /* the first of its threads is looked at again */
    uint64_t ran_ns;   /* the process's CPU clock, before any thread was looked at; 0: not read */
    bool looked;       /* at some thread, */
    bool moved;        /* and one of those had run */
    struct unwind_sleeper sleeper;
    struct sleeper_scan *scan; /* NULL: frames of runtimes are not to be had */
    struct batch {
        int64_t first_us;
        uint32_t rounds, count;
        uint32_t sleepers[FEED_SLEEPERS_MAX];
    } batch;
};

/* Thread slots that were ever used. */
uint32_t round_slots(const struct feed_writer *writer);

void round_count_lost(const struct round *round, enum feed_loss loss, uint64_t rounds);

/* The thread sleeps on where its last sample says: in so many rounds. */
void round_again(struct round *round, uint32_t slot, uint16_t generation, enum feed_state state,
                 uint32_t rounds, uint32_t rounds_ago);
/* All that was told goes into the ring: before a sample of a thread in it, and at the end. */
void round_flush(struct round *round);

/* Lends room for a sample; NULL: there is none. It is handed over by ring_commit, or never. */
struct feed_sample *round_reserve(const struct round *round, struct ring_writer *ring);

/* Its next tick will say where the thread was in these rounds. */
void round_owe(const struct round *round, uint32_t slot, uint32_t running, uint32_t runnable);

#endif
