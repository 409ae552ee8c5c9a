#include "counted.h"

#include "../../include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

/* Without memory for all of them the asked one has to do. */
uint32_t counted_period_us(struct profile *profile, uint64_t process_id, bool *alike)
{
    uint32_t longest_us = profile_settings(profile).period_us, least_us = UINT32_MAX;
    size_t count = process_id ? 1 : profile_processes(profile, NULL, 0);
    struct process_info *processes = calloc(count + 1, sizeof(*processes));

    *alike = true;
    if (!processes)
        return longest_us;
    if (process_id)
        count = profile_process(profile, process_id, processes);
    else if (profile_processes(profile, processes, count) < count)
        count = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t true_us = processes[i].status.true_period_us;

        longest_us = true_us > longest_us ? true_us : longest_us;
        least_us = true_us < least_us ? true_us : least_us;
    }
    free(processes);
    *alike = !count || least_us >= longest_us;
    return longest_us;
}

int counted_open(struct counted *counted, const struct store_view *views, uint32_t view_count)
{
    counted->views = views;
    counted->view_count = view_count;
    counted->left_ns = calloc((size_t)view_count + 1, sizeof(*counted->left_ns));
    return counted->left_ns ? 0 : -ISOSCOPE_NO_MEMORY;
}

void counted_close(struct counted *counted)
{
    for (uint32_t view = 0; counted->left_ns && view < counted->view_count; view++)
        free(counted->left_ns[view]);
    free(counted->left_ns);
    *counted = (struct counted){ 0 };
}

int counted_view(struct counted *counted, uint32_t view)
{
    size_t count = counted->views[view].source_count;

    if (!counted->left_ns[view])
        counted->left_ns[view] = calloc(count + 1, sizeof(**counted->left_ns));
    return counted->left_ns[view] ? 0 : -ISOSCOPE_NO_MEMORY;
}

void counted_rewind(struct counted *counted)
{
    for (uint32_t view = 0; view < counted->view_count; view++)
        if (counted->left_ns[view])
            memset(counted->left_ns[view], 0,
                   counted->views[view].source_count * sizeof(**counted->left_ns));
    counted->moment = (struct moment){ 0 };
    counted->looked_at = counted->first = counted->times = 0;
}

/* Programs give as many samples as a thread used periods, and carry over what is left themselves
 * (account.h): theirs are told as they are, if their period is the window's. Others are rounded,
 * and what they were told too often or too seldom is left. */
uint32_t counted_times(struct counted *counted, struct pick pick)
{
    const struct chunk *chunk = counted->views[pick.view].chunk;
    const struct chunk_sample *sample = &chunk->samples[pick.sample];
    int64_t period_ns = (int64_t)counted->period_us * 1000;
    int64_t cpu_ns = (int64_t)chunk_sample_weight(chunk, pick.sample);
    int64_t *left_ns = &counted->left_ns[pick.view][sample->source];
    int64_t times;

    if (!counted->weighs || !cpu_ns || sample->state != FEED_STATE_RUNNING ||
        (counted->alike && 2 * cpu_ns < 5 * period_ns))
        return 1;
    *left_ns += cpu_ns;
    times = (*left_ns + period_ns / 2) / period_ns;
    *left_ns -= times * period_ns;
    return (uint32_t)times;
}

int64_t counted_us(const struct counted *counted, int64_t time_us, uint32_t copy, uint32_t times)
{
    int64_t span_us = (int64_t)(times - 1) * counted->period_us;

    if (span_us > time_us - counted->earliest_us)
        span_us = time_us - counted->earliest_us;
    return times > 1 ? time_us - span_us + span_us * copy / (times - 1) : time_us;
}

static struct pick pick_at(const struct window *window, uint32_t sample)
{
    return window->picks[sample - window->first];
}

int counted_seek(struct counted *counted, struct window *window, uint32_t cursor, int64_t *work)
{
    if (cursor < counted->first) {
        window_rewind(window);
        counted_rewind(counted);
    }
    while (cursor >= counted->first + counted->times) {
        while (window->gathering || counted->looked_at >= window->first + window->count)
            if (window_gather(window, work))
                return 1;
        counted->first += counted->times;
        counted->times = counted_times(counted, pick_at(window, counted->looked_at++));
    }
    return 0;
}

/* By where it lies in its chunk, not in the window: a sample has one time, whatever is asked for. */
static void find_moment(struct counted *counted, struct pick pick)
{
    const struct store_view *view = &counted->views[pick.view];
    const struct chunk_sample *samples = view->chunk->samples;
    uint32_t first = pick.sample, end = first + 1, time = samples[first].time;
    int64_t before_us = pick_us(counted->views, pick) - counted->period_us;

    while (first > 0 && samples[first - 1].time == time)
        first--;
    while (end < view->sample_count && samples[end].time == time)
        end++;
    if (first > 0 && samples[first - 1].time < time &&
        chunk_sample_us(view->chunk, first - 1) > before_us)
        before_us = chunk_sample_us(view->chunk, first - 1);
    if (before_us < counted->earliest_us)
        before_us = counted->earliest_us;
    counted->moment = (struct moment){ pick.view, first, end, before_us };
}

int64_t counted_apart_us(struct counted *counted, const struct window *window)
{
    const struct moment *moment = &counted->moment;
    struct pick pick = pick_at(window, counted->looked_at - 1);
    int64_t time_us = pick_us(counted->views, pick);

    if (pick.view != moment->view || pick.sample < moment->first || pick.sample >= moment->end)
        find_moment(counted, pick);
    return moment->before_us + (time_us - moment->before_us) * (pick.sample - moment->first + 1) /
                                   (moment->end - moment->first);
}

int64_t counted_first_us(struct counted *counted, const struct window *window)
{
    int64_t time_us;

    counted->looked_at = 1;
    time_us = counted_apart_us(counted, window);
    counted_rewind(counted);
    return time_us;
}
