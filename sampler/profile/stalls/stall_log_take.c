#include "stall_log_state.h"

#include "../../include/isoscope/isoscope.h"

#include <stdlib.h>

/* What is known of it now: an ongoing one has grown since it was published. */
static const struct stall *facts_of(const struct listed *listed)
{
    return listed->open ? &listed->open->stall : &listed->kept->stall;
}

static int64_t to_ns(int64_t us)
{
    int64_t ns;

    if (__builtin_mul_overflow(us, 1000, &ns))
        return us < 0 ? INT64_MIN : INT64_MAX;
    return ns;
}

static bool overlaps(const struct stall *stall, const struct stalls_window *window)
{
    int64_t last_us, end_ns;

    if (!window->bounded)
        return true;
    if (__builtin_add_overflow(window->origin_us, window->extent_us, &last_us))
        last_us = INT64_MAX;
    if (__builtin_add_overflow(stall->start_ns.min, stall->duration_ns.max, &end_ns))
        end_ns = INT64_MAX;
    return stall->start_ns.min / 1000 <= last_us && end_ns >= to_ns(window->origin_us);
}

static bool belongs(const struct listed *listed, const struct stalls_window *window)
{
    const struct stall *stall = &listed->kept->stall;

    return (!window->process_id || stall->process_id == window->process_id) &&
           (!window->tid || stall->tid == window->tid) && stall->change > window->since &&
           overlaps(facts_of(listed), window);
}

/* The first that may belong to it. */
static struct listed *first_of(const struct stall_log *log, uint64_t since)
{
    struct listed *listed = log->last;

    if (!since)
        return log->first;
    if (!listed || listed->kept->stall.change <= since)
        return NULL;
    while (listed->previous && listed->previous->kept->stall.change > since)
        listed = listed->previous;
    return listed;
}

static bool take_one(const struct listed *listed, struct stall_log_taken *out)
{
    struct stall *newer = NULL;

    if (listed->kept->stall.ongoing && listed->open) {
        const struct stall *facts = &listed->open->stall;

        newer = malloc(sizeof(*newer));
        if (!newer)
            return false;
        *newer = listed->kept->stall;
        newer->start_ns = facts->start_ns;
        newer->duration_ns = facts->duration_ns;
        newer->cause = facts->cause;
    }
    *out = (struct stall_log_taken){ kept_stall_hold(listed->kept), newer };
    return true;
}

/* With the lock. False: no memory. */
static bool take(const struct stall_log *log, const struct stalls_window *window,
                 struct stall_log_window *out)
{
    struct listed *listed = first_of(log, window->since);

    for (; listed; listed = listed->next) {
        if (!belongs(listed, window))
            continue;
        if (window->count_max && out->count == window->count_max)
            return true;
        if (!take_one(listed, &out->taken[out->count]))
            return false;
        if (++out->count == window->count_max)
            out->change = listed->kept->stall.change;
    }
    out->change = log->change;
    return true;
}

int stall_log_take(struct stall_log *log, const struct stalls_window *window,
                   struct stall_log_window *out)
{
    struct stall_log_window taken = { 0 };
    bool enough;

    pthread_mutex_lock(&log->lock);
    taken.taken = calloc((size_t)log->count + 1, sizeof(*taken.taken));
    enough = taken.taken && take(log, window, &taken);
    pthread_mutex_unlock(&log->lock);
    if (!enough) {
        stall_log_window_free(&taken);
        return -ISOSCOPE_NO_MEMORY;
    }
    *out = taken;
    return 0;
}

void stall_log_window_free(struct stall_log_window *window)
{
    for (size_t i = 0; i < window->count; i++) {
        kept_stall_release(window->taken[i].kept);
        free(window->taken[i].newer);
    }
    free(window->taken);
}

size_t stall_log_unended(struct stall_log *log)
{
    size_t count = 0;

    pthread_mutex_lock(&log->lock);
    for (const struct open_stall *open = log->open; open; open = open->next)
        count += open->reached && !open->notes.end_told;
    pthread_mutex_unlock(&log->lock);
    return count;
}
