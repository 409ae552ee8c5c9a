/*
 * chance.h - numbers by chance for what must not keep step: one multiplication each, no lock.
 *
 * For nothing that a stranger may not guess. The high bits are the good ones.
 *
 * Threads    The caller's state: one at a time. Signal-safe.
 * Source     Numerical Recipes' linear congruential generator.
 */
#ifndef ISOSCOPE_CHANCE_H
#define ISOSCOPE_CHANCE_H

#include "signal_safe.h"

#include <stdint.h>

SIGNAL_SAFE_INLINE uint32_t chance_next(uint32_t *state)
{
    return *state = *state * 1664525u + 1013904223u;
}

#endif
