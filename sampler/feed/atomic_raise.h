/*
 * atomic_raise.h - a number that only grows, whoever writes it.
 *
 * Signal-safe, any thread. What was written before the call is seen by whoever reads the number
 * with acquire.
 */
#ifndef ISOSCOPE_ATOMIC_RAISE_H
#define ISOSCOPE_ATOMIC_RAISE_H

#include "signal_safe.h"

#include <stdatomic.h>
#include <stdint.h>

SIGNAL_SAFE_INLINE void atomic_raise(_Atomic uint32_t *number, uint32_t at_least)
{
    uint32_t now = atomic_load_explicit(number, memory_order_relaxed);

    while (now < at_least &&
           !atomic_compare_exchange_weak_explicit(number, &now, at_least, memory_order_release,
                                                  memory_order_relaxed))
        ;
}

#endif
