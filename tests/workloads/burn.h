/*
 * burn.h - CPU time whose split between functions is known by construction.
 *
 * Units      A unit is the same work wherever it is burnt; its length varies from draw to draw,
 *            because equal rounds could run in step with the sampler's timer and be seen
 *            always at the same place. CPU time in seconds.
 * Threads    A struct burn belongs to one thread.
 */
#ifndef ISOSCOPE_TESTS_BURN_H
#define ISOSCOPE_TESTS_BURN_H

#include <stdint.h>
#include <time.h>

struct burn {
    uint64_t state; /* not 0 */
};

static inline double cpu_seconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline uint64_t burn_random(struct burn *burn)
{
    burn->state ^= burn->state << 13;
    burn->state ^= burn->state >> 7;
    burn->state ^= burn->state << 17;
    return burn->state;
}

/* Rounds in one unit: some 2 to 20 microseconds. */
static inline uint32_t burn_draw(struct burn *burn)
{
    return 1000 + (uint32_t)(burn_random(burn) % 8192);
}

/* In its caller's own code, so that the caller is the leaf. */
__attribute__((always_inline)) static inline void burn_rounds(struct burn *burn, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++)
        burn_random(burn);
}

#endif
