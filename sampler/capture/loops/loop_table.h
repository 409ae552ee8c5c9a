/*
 * loop_table.h - the loops that a program has registered (isoscope/loop.h).
 *
 *   calls/loop_calls.c (register, unregister), loops.c (marks), loop_ping.h -> here -> loop_feed.h
 *
 * A struct isoscope_loop stays where it is for good: a call with one that has ended does nothing. When the table
 * is full, places of loops that have ended with their threads are taken again, the oldest first.
 *
 * Threads    Any adds and ends. Marks are the loop's thread's.
 * Signals    What is marked is SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_LOOP_TABLE_H
#define ISOSCOPE_LOOP_TABLE_H

#include "loop_feed.h"

#include "../../include/isoscope/loop.h"

enum {
    LOOP_IDLES_MAX = 8, /* idle_enter inside of idle_enter, remembered */
};

enum loop_state {
    LOOP_FREE,
    LOOP_CLAIMED, /* being filled in, or ended */
    LOOP_LIVE,
    LOOP_ENDED, /* with its thread, or the sampler; the program still holds it */
};

typedef int (*loop_post)(void (*run)(void *argument), void *argument, void *context);

struct isoscope_loop {
    struct loop_place place;
    uint32_t depth; /* begins that have not ended */
    uint32_t idles;
    uint32_t idle_depths[LOOP_IDLES_MAX]; /* depth when each began */
    _Atomic uint32_t state;               /* loop_state */
    _Atomic uint32_t number;              /* another each time the place is taken */
    _Atomic uint32_t entering;            /* 1: somebody claims an entry in a new feed */
    int32_t tid;                          /* of its thread */
    struct feed_loop_start start;
    char name[FEED_NAME_MAX + 1];
    /* loop_ping.c, with its lock. */
    loop_post post;
    void *context;
    uint32_t refused; /* the ping that post did not take: it waits for the next one */
};

/* Of the calling thread. NULL: there is no feed, or no room. options: checked. */
struct isoscope_loop *loop_table_add(const char *name, const struct isoscope_loop_options *options);
/* It ends; its place is free, or (to LOOP_ENDED) still the program's. False: it had ended before. */
bool loop_table_end(struct isoscope_loop *loop, enum loop_state to);
/* Those of that thread; 0: all of the process. */
void loop_table_end_all(int32_t tid);
/* In a forked child: they were its parent's. */
void loop_table_forget_parent(void);

/* The first from that place on that is live, and whose thread is tid (0: any); NULL: none. */
SIGNAL_SAFE struct isoscope_loop *loop_table_next(uint32_t from, int32_t tid);
SIGNAL_SAFE uint32_t loop_table_place(const struct isoscope_loop *loop);
/* Where the loop has no entry in this feed it gets one. False: it cannot have one. */
SIGNAL_SAFE bool loop_table_enter(struct isoscope_loop *loop);

SIGNAL_SAFE_INLINE bool loop_table_is_live(const struct isoscope_loop *loop)
{
    return atomic_load_explicit(&loop->state, memory_order_relaxed) == LOOP_LIVE;
}

#endif
