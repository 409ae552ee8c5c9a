/*
 * perf_trap.h - which of our perf events a SIGTRAP is of, and what the event says with it.
 *
 * An event's sig_data has a mark in its upper half, so that our traps differ from others and from
 * each other, and a number below it.
 *
 * Signals    SIGNAL_SAFE.
 * Source     perf_event_open(2): sig_data; the kernel's siginfo: si_perf_data, si_perf_flags, which
 *            libc's siginfo_t does not know yet: they follow si_addr.
 */
#ifndef ISOSCOPE_PERF_TRAP_H
#define ISOSCOPE_PERF_TRAP_H

#include "../../feed/signal_safe.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PERF_TRAP_CLOCK  (UINT64_C(0x69736f73) << 32)
#define PERF_TRAP_FAULTS (UINT64_C(0x69736f66) << 32)

/* The number of the event with that mark; 0: the trap is of no such event. */
SIGNAL_SAFE_INLINE uint32_t perf_trap_of(const siginfo_t *info, uint64_t mark)
{
    enum { TRAP_CODE_PERF = 6, DATA_AT = 24 };
    uint64_t data;

    if (info->si_code != TRAP_CODE_PERF)
        return 0;
    memcpy(&data, (const char *)info + DATA_AT, sizeof data);
    return data >> 32 == mark >> 32 ? (uint32_t)data : 0;
}

/* The thread blocked the signal when the event came, and is somewhere else by now. */
SIGNAL_SAFE_INLINE bool perf_trap_is_late(const siginfo_t *info)
{
    enum { FLAGS_AT = 36, FLAG_ASYNC = 1 };
    uint32_t flags;

    memcpy(&flags, (const char *)info + FLAGS_AT, sizeof flags);
    return flags & FLAG_ASYNC;
}

#endif
