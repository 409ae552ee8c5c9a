/*
 * chance.h - how much goes by until the next one is sampled.
 *
 * Exponentially distributed, so that each unit (byte, nanosecond) has the same chance, whatever was sampled before.
 *
 * Threads    A state is its thread's.
 * Signals    SIGNAL_SAFE.
 */
#ifndef ISOSCOPE_OWN_CHANCE_H
#define ISOSCOPE_OWN_CHANCE_H

#include "../../feed/signal_safe.h"

#include <stdint.h>

/* splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014. */
SIGNAL_SAFE_INLINE uint64_t chance_next(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

/* -ln((number + 1) / 2^53), number below 2^53. libm is no part of the sampler; the series of
 * atanh is right to ten digits here. */
SIGNAL_SAFE_INLINE double chance_minus_log(uint64_t number)
{
    const double ln2 = 0.69314718055994530942;
    uint64_t whole = number + 1;
    int exponent = 63 - __builtin_clzll(whole);
    double mantissa = (double)whole / (double)(UINT64_C(1) << exponent); /* 1 to 2 */
    double part, square, power, sum = 0;

    if (mantissa > 1.41421356237309504880) {
        mantissa /= 2;
        exponent++;
    }
    part = (mantissa - 1) / (mantissa + 1);
    square = part * part;
    power = part;
    for (int odd = 1; odd < 16; odd += 2) {
        sum += power / odd;
        power *= square;
    }
    return (53 - exponent) * ln2 - 2 * sum;
}

SIGNAL_SAFE_INLINE int64_t chance_units(uint64_t *state, uint64_t mean)
{
    return (int64_t)(chance_minus_log(chance_next(state) >> 11) * (double)mean);
}

#endif
