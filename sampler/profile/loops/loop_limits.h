/*
 * loop_limits.h - from when on a dispatch is what: by the service's settings, or the loop's own.
 *
 * Threads    Any. Pure.
 */
#ifndef ISOSCOPE_LOOP_LIMITS_H
#define ISOSCOPE_LOOP_LIMITS_H

#include "../stalls.h"

struct loop_limits {
    int64_t ns[STALL_LEVEL_COUNT]; /* each at least the one before */
};

/* As profile_apply_stall_settings has it; 0 is the usual limit. */
struct stall_settings stall_settings_clamped(const struct stall_settings *settings);
/* own_ms: of the feed, untrusted; 0: the service's. */
struct loop_limits loop_limits_of(const uint32_t service_ms[STALL_LEVEL_COUNT],
                                  const uint32_t own_ms[STALL_LEVEL_COUNT]);

#endif
