/*
 * limits.h - which stalls are told: not each of those that equal each other, and not too many in a day.
 *
 *   stall_log -> limits (counts by loop and by stack) -> annealing_tells
 *
 * A loop's stalls are equal when their keys are: the culprit's stack. A day is 24 hours from the first
 * that was told in it.
 *
 * Units      *_ns: any clock's nanoseconds; it comes in as an argument.
 * Bounds     LIMITS_STACKS_MAX stacks and LIMITS_LOOPS_MAX loops; who was not met for the longest time is
 *            forgotten.
 */
#ifndef ISOSCOPE_LIMITS_H
#define ISOSCOPE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LIMITS_LOOP_DAY = 100, /* told of one loop */
    LIMITS_STACK_DAY = 10, /* ... with one stack */
    LIMITS_STACKS_MAX = 2048,
    LIMITS_LOOPS_MAX = 512,
};

enum limits_verdict {
    LIMITS_TOLD,
    LIMITS_ANNEALED,   /* equal ones were told often enough */
    LIMITS_STACK_FULL, /* ... in this day */
    LIMITS_LOOP_FULL,  /* so were others of the loop */
};

/* Met and told so far. */
struct limits_entry {
    bool used;
    uint32_t loop;
    uint64_t key; /* of a stack */
    uint32_t equals, told_today;
    int64_t day_ns;  /* when the day began; told_today 0: it has not */
    int64_t used_ns; /* for who is forgotten */
};

/* All zeros: nothing was met. */
struct limits {
    struct limits_entry stacks[LIMITS_STACKS_MAX];
    struct limits_entry loops[LIMITS_LOOPS_MAX];
};

struct limits_answer {
    enum limits_verdict verdict;
    uint32_t equals; /* this one too */
};

/* What limits_count would say of a stall that goes on, if it ended with that stack. */
struct limits_answer limits_foresee(struct limits *limits, uint32_t loop, uint64_t key,
                                    int64_t now_ns);
/* Counts a stall that has ended. told: so it was while it went on, and is now whatever the limits say. */
struct limits_answer limits_count(struct limits *limits, uint32_t loop, uint64_t key,
                                  int64_t now_ns, bool told);
/* Its stack while it went on was this one, not the one that it is counted by: counts with equals all the
 * same, for the next one that begins so. */
void limits_count_begun(struct limits *limits, uint32_t loop, uint64_t key, int64_t now_ns,
                        bool told);
/* Of stalls of that loop there were none. */
void limits_forget(struct limits *limits, uint32_t loop);

#endif
