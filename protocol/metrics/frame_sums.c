#include "frame_sums.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <string.h>

enum { SECOND_US = 1000000 };

static const uint64_t budget_ns = UINT64_C(1000000000) / FRAME_REFRESH_RATE;

static bool is_same(const struct json_text *a, const struct json_text *b)
{
    return a->length == b->length && !memcmp(a->data, b->data, a->length);
}

static void put_labels(struct json_text *labels, const char *process, const char *frame)
{
    metrics_label(labels, "process", process);
    metrics_label(labels, "frame", frame);
}

/* The group that has these labels, or takes them over; else they are freed. */
static struct frame_group *group_with(struct frame_sums *sums, struct json_text *labels)
{
    uint32_t place = 0;

    while (place < sums->group_count && !is_same(labels, &sums->groups[place].labels))
        place++;
    if (place == sums->group_count && place < FRAME_GROUPS_MAX) {
        sums->group_count++;
        sums->groups[place].labels = *labels;
        return &sums->groups[place];
    }
    json_text_free(labels);
    if (place == FRAME_GROUPS_MAX && !sums->others) {
        put_labels(&sums->groups[place].labels, METRICS_OTHER, METRICS_OTHER);
        sums->others = true;
    }
    return &sums->groups[place];
}

/* NULL: out of memory. */
static struct frame_group *group_of(struct frame_sums *sums, const struct process_sums *processes,
                                    const struct timeline_event *frame)
{
    struct json_text labels = { 0 };
    struct frame_group *group;

    put_labels(&labels, process_sums_name(processes, frame->process_id), frame->name);
    if (labels.failed) {
        json_text_free(&labels);
        return NULL;
    }
    group = group_with(sums, &labels);
    return group->labels.failed ? NULL : group;
}

/* Bucket i has what took less than 2 << i microseconds. */
static void add_time(struct loop_times *times, uint64_t ns)
{
    uint64_t us = ns / 1000;
    int bucket = us < 2 ? 0 : 63 - __builtin_clzll(us);

    times->count++;
    times->sum_ns += ns;
    times->buckets[bucket < LOOP_BUCKETS ? bucket : LOOP_BUCKETS - 1]++;
}

static void add(struct frame_group *group, const struct timeline_event *frame)
{
    uint64_t dropped = frame->duration_ns / budget_ns;

    add_time(&group->times, frame->duration_ns);
    group->dropped += dropped;
    group->levels[frame_level_of(dropped)]++;
}

static int add_new(struct frame_sums *sums, struct timeline *timeline,
                   const struct process_sums *processes)
{
    struct timeline_event frame;
    uint64_t cursor = 0;

    while (timeline_next(timeline, &cursor, &frame)) {
        struct frame_group *group = group_of(sums, processes, &frame);

        if (!group)
            return -ISOSCOPE_NO_MEMORY;
        add(group, &frame);
    }
    return 0;
}

static int count_second(struct frame_sums *sums, struct timeline *timeline,
                        const struct process_sums *processes, int64_t now_us)
{
    struct timeline_event frame;
    uint64_t cursor = 0;

    while (timeline_next(timeline, &cursor, &frame)) {
        int64_t end_us = (frame.start_ns + (int64_t)frame.duration_ns) / 1000;
        struct frame_group *group = group_of(sums, processes, &frame);

        if (!group)
            return -ISOSCOPE_NO_MEMORY;
        group->per_second += end_us > now_us - SECOND_US && end_us <= now_us;
    }
    return 0;
}

int frame_sums_look(struct frame_sums *sums, struct profile *profile,
                    const struct process_sums *processes, int64_t now_us)
{
    const struct timeline_window since = { .since = &sums->cursor, .kinds = 1u << TIMELINE_FRAME };
    const struct timeline_window second = { .bounded = true,
                                            .origin_us = now_us - SECOND_US,
                                            .extent_us = SECOND_US,
                                            .kinds = 1u << TIMELINE_FRAME };
    struct timeline *timeline = NULL;
    int rc = timeline_take(&timeline, profile, &since);

    if (rc < 0)
        return rc;
    rc = add_new(sums, timeline, processes);
    sums->cursor = timeline_cursor(timeline);
    timeline_free(timeline);
    timeline = NULL;
    for (uint32_t i = 0; i <= FRAME_GROUPS_MAX; i++)
        sums->groups[i].per_second = 0;
    if (rc < 0 || timeline_take(&timeline, profile, &second) < 0)
        return -ISOSCOPE_NO_MEMORY;
    rc = count_second(sums, timeline, processes, now_us);
    timeline_free(timeline);
    return rc;
}

void frame_sums_free(struct frame_sums *sums)
{
    for (uint32_t i = 0; i <= FRAME_GROUPS_MAX; i++)
        json_text_free(&sums->groups[i].labels);
}
