/*
 * weigh.h - what a sample stands for that was taken by chance: of so many bytes or nanoseconds, one.
 *
 * All that could be sampled is in what was, if each stands for as many as its chance was small.
 *
 * Units      amount, mean, most: bytes, or nanoseconds.
 * Threads    Any.
 */
#ifndef ISOSCOPE_WEIGH_H
#define ISOSCOPE_WEIGH_H

#include "chunk.h"

#include <math.h>

/* More is no program's to get. */
#define WEIGH_BYTES_MAX (UINT64_C(1) << 42)

/* mean 0: it was sampled for sure. */
static inline double weigh_chance(uint64_t amount, uint64_t mean)
{
    return amount && mean ? -expm1(-(double)amount / (double)mean) : 1;
}

/* most: no weight is more, whoever made the feed. */
static inline void weigh(uint64_t amount, uint64_t mean, uint64_t most, struct store_sample *sample)
{
    double chance = weigh_chance(amount, mean);
    double objects = CHUNK_OBJECT_PARTS / chance;

    sample->weight = amount < most ? (uint64_t)((double)amount / chance + 0.5) : most;
    sample->objects = objects < UINT32_MAX ? (uint32_t)(objects + 0.5) : UINT32_MAX;
}

#endif
