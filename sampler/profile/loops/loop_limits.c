#include "loop_limits.h"

#include <string.h>

enum { LIMIT_MS_MAX = 24 * 3600 * 1000 };

static const uint32_t usual_ms[STALL_LEVEL_COUNT] = { 50, 250, 2000, 5000 };
static const int64_t ms_ns = 1000000;

static uint32_t clamped(uint32_t ms, uint32_t least)
{
    if (ms < least)
        return least;
    return ms < LIMIT_MS_MAX ? ms : LIMIT_MS_MAX;
}

struct stall_settings stall_settings_clamped(const struct stall_settings *settings)
{
    struct stall_settings clean = *settings;
    uint32_t least = 1;

    if (clean.watch >= FEED_WATCH_COUNT)
        clean.watch = FEED_WATCH_AUTO;
    clean.names[sizeof(clean.names) - 1] = 0;
    for (int level = 0; level < STALL_LEVEL_COUNT; level++) {
        uint32_t ms = settings->limits_ms[level] ? settings->limits_ms[level] : usual_ms[level];

        clean.limits_ms[level] = least = clamped(ms, least);
    }
    return clean;
}

struct loop_limits loop_limits_of(const uint32_t service_ms[STALL_LEVEL_COUNT],
                                  const uint32_t own_ms[STALL_LEVEL_COUNT])
{
    struct stall_settings settings = { .watch = FEED_WATCH_AUTO };
    struct loop_limits limits;

    for (int level = 0; level < STALL_LEVEL_COUNT; level++)
        settings.limits_ms[level] = own_ms[level] ? own_ms[level] : service_ms[level];
    settings = stall_settings_clamped(&settings);
    for (int level = 0; level < STALL_LEVEL_COUNT; level++)
        limits.ns[level] = settings.limits_ms[level] * ms_ns;
    return limits;
}
