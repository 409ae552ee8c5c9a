/*
 * annealing.h - what repeats itself is told ever more seldom: after 1, 2, 3, 5, 8 ... of it.
 *
 *   teller (each check of a stall) -> annealing -> told again, or not
 *   limits (each stall that equals others) -> annealing_tells
 *
 * Units      *_ns: any clock's nanoseconds; it comes in as an argument.
 */
#ifndef ISOSCOPE_ANNEALING_H
#define ISOSCOPE_ANNEALING_H

#include <stdbool.h>
#include <stdint.h>

enum { ANNEALING_PERIODS_MAX = 60 };

/* Of one stall that goes on: it is told again at once when its stack is another one, else after 1, 2, 3,
 * 5, 8 ... periods, and at least after ANNEALING_PERIODS_MAX. */
struct annealing {
    uint32_t periods, next_periods;
    int64_t told_ns;
};

void annealing_begin(struct annealing *annealing, int64_t now_ns);
/* same: the stack is the one that was told last. True: it is told now. */
bool annealing_again(struct annealing *annealing, int64_t now_ns, int64_t period_ns, bool same);

/* Of so many equal stalls, whether the last one is told: the 1st, 2nd, 3rd, 5th, 8th ... */
bool annealing_tells(uint32_t equals);

#endif
