#include "../stalls.h"

#include "../../include/isoscope/isoscope.h"
#include "../control.h"
#include "../loops/watcher.h"
#include "../parts.h"
#include "stall_log.h"

#include <stdlib.h>

struct stalls {
    struct stall_log_window window;
};

int stalls_take(struct stalls **out, struct profile *profile, const struct stalls_window *window)
{
    struct process_info info;
    struct stalls *stalls;
    int error;

    if (window->process_id && !profile_process(profile, window->process_id, &info))
        return -ISOSCOPE_NOT_FOUND;
    stalls = calloc(1, sizeof(*stalls));
    if (!stalls)
        return -ISOSCOPE_NO_MEMORY;
    error = stall_log_take(profile->stalls, window, &stalls->window);
    if (error) {
        free(stalls);
        return error;
    }
    *out = stalls;
    return 0;
}

void stalls_free(struct stalls *stalls)
{
    if (!stalls)
        return;
    stall_log_window_free(&stalls->window);
    free(stalls);
}

size_t stalls_count(const struct stalls *stalls)
{
    return stalls->window.count;
}

const struct stall *stalls_at(const struct stalls *stalls, size_t index)
{
    const struct stall_log_taken *taken = &stalls->window.taken[index];

    return taken->newer ? taken->newer : &taken->kept->stall;
}

uint64_t stalls_change(const struct stalls *stalls)
{
    return stalls->window.change;
}

uint64_t profile_stalls_change(struct profile *profile)
{
    return stall_log_change(profile->stalls);
}

struct stall_counts profile_stall_counts(struct profile *profile)
{
    return stall_log_counts(profile->stalls);
}

size_t profile_stalls_open(struct profile *profile)
{
    return stall_log_unended(profile->stalls);
}

void profile_stalls_clear(struct profile *profile, uint64_t process_id)
{
    if (!profile->collector)
        return;
    if (profile->before_clear)
        profile->before_clear(profile->before_clear_context);
    stall_log_clear(profile->stalls, process_id);
    watcher_clear(profile->watcher, process_id);
}
