/*
 * loops.c - the part of stalls.h that is about loops: of a live profile the watcher knows, of a saved one its file.
 */
#include "../stalls.h"

#include "../loops/kept_loops.h"
#include "../loops/loop_limits.h"
#include "../loops/watcher.h"
#include "../parts.h"

size_t profile_loops(struct profile *profile, uint64_t process_id, struct loop_info *out,
                     size_t capacity)
{
    if (profile->watcher)
        return watcher_loops(profile->watcher, process_id, out, capacity);
    return profile->kept_loops ? kept_loops_tell(profile->kept_loops, process_id, out, capacity)
                               : 0;
}

size_t profile_unwatched(struct profile *profile, uint64_t process_id, struct unwatched_thread *out,
                         size_t capacity)
{
    if (profile->watcher)
        return watcher_unwatched(profile->watcher, process_id, out, capacity);
    return profile->kept_loops
               ? kept_loops_unwatched(profile->kept_loops, process_id, out, capacity)
               : 0;
}

size_t profile_cpu_high(struct profile *profile, uint64_t since, struct cpu_high *out,
                        size_t capacity)
{
    if (profile->watcher)
        return watcher_cpu_highs(profile->watcher, since, out, capacity);
    return profile->kept_loops ? kept_loops_cpu_highs(profile->kept_loops, since, out, capacity)
                               : 0;
}

struct stall_settings profile_stall_settings(struct profile *profile)
{
    const struct stall_settings usual = { .watch = FEED_WATCH_AUTO };

    if (profile->watcher)
        return watcher_settings(profile->watcher);
    return profile->kept_loops ? profile->kept_loops->settings : stall_settings_clamped(&usual);
}
