#include "loop_sums.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

static void put_labels(struct json_text *labels, const char *process, const char *loop,
                       const char *thread)
{
    metrics_label(labels, "process", process);
    metrics_label(labels, "loop", loop);
    metrics_label(labels, "thread", thread);
}

static bool is_same(const struct json_text *a, const struct json_text *b)
{
    return a->length == b->length && !memcmp(a->data, b->data, a->length);
}

/* The place of the group that has these labels, or that they would get. */
static uint32_t find_group(struct loop_sums *sums, const struct json_text *labels)
{
    struct json_text *others = &sums->groups[LOOP_GROUPS_MAX].labels;
    uint32_t place = 0;

    if (!others->length)
        put_labels(others, METRICS_OTHER, METRICS_OTHER, METRICS_OTHER);
    if (is_same(labels, others))
        return LOOP_GROUPS_MAX;
    while (place < sums->group_count && !is_same(labels, &sums->groups[place].labels))
        place++;
    return place;
}

/* -ISOSCOPE_NO_MEMORY, or the group's place. */
static int group_of(struct loop_sums *sums, const struct loop_info *loop, const char *process)
{
    struct json_text labels = { 0 };
    uint32_t place;

    put_labels(&labels, process, loop->name, loop->thread_name);
    place = find_group(sums, &labels);
    if (labels.failed || sums->groups[LOOP_GROUPS_MAX].labels.failed) {
        json_text_free(&labels);
        return -ISOSCOPE_NO_MEMORY;
    }
    sums->others |= place == LOOP_GROUPS_MAX;
    if (place == sums->group_count && place < LOOP_GROUPS_MAX)
        sums->groups[sums->group_count++].labels = labels;
    else
        json_text_free(&labels);
    return (int)place;
}

static void add_times(struct loop_times *sum, const struct loop_times *times)
{
    sum->sum_ns += times->sum_ns;
    for (int i = 0; i < LOOP_BUCKETS; i++)
        sum->buckets[i] += times->buckets[i];
}

static void add(struct loop_counts *sum, const struct loop_counts *counts)
{
    add_times(&sum->dispatch, &counts->dispatch);
    add_times(&sum->delay, &counts->delay);
    sum->blocking_ns += counts->blocking_ns;
    sum->dismissed += counts->dismissed;
    for (int level = 0; level < STALL_LEVEL_COUNT; level++)
        sum->levels[level] += counts->levels[level];
    for (int cause = 0; cause < STALL_CAUSE_COUNT; cause++)
        sum->causes[cause] += counts->causes[cause];
}

static struct loop_counts counts_of(const struct loop_info *loop)
{
    struct loop_counts counts = { .dispatch = loop->dispatch,
                                  .delay = loop->delay,
                                  .blocking_ns = loop->blocking_ns,
                                  .dismissed = loop->dismissed };

    memcpy(counts.levels, loop->levels, sizeof(counts.levels));
    memcpy(counts.causes, loop->causes, sizeof(counts.causes));
    return counts;
}

static int by_number(const void *a, const void *b)
{
    uint32_t first = ((const struct seen_loop *)a)->number;
    uint32_t second = ((const struct seen_loop *)b)->number;

    return (first > second) - (first < second);
}

static struct seen_loop *find(struct seen_loop *seen, size_t count, uint32_t number)
{
    struct seen_loop wanted = { .number = number };

    return count ? bsearch(&wanted, seen, count, sizeof(*seen), by_number) : NULL;
}

/* One that was there keeps its group: a thread may get another name. */
static int place_of(struct loop_sums *sums, const struct loop_info *loop,
                    const struct process_sums *processes)
{
    const struct seen_loop *before = find(sums->seen, sums->seen_count, loop->number);

    return before ? (int)before->group
                  : group_of(sums, loop, process_sums_name(processes, loop->process_id));
}

static int see(struct loop_sums *sums, struct seen_loop *now, const struct loop_info *loops,
               size_t count, const struct process_sums *processes)
{
    for (size_t i = 0; i < count; i++) {
        int place = place_of(sums, &loops[i], processes);

        if (place < 0)
            return place;
        now[i] = (struct seen_loop){ loops[i].number, (uint32_t)place, counts_of(&loops[i]) };
    }
    qsort(now, count, sizeof(*now), by_number);
    return 0;
}

/* Takes over now. */
static void replace(struct loop_sums *sums, struct seen_loop *now, size_t count)
{
    for (size_t i = 0; i < sums->seen_count; i++)
        if (!find(now, count, sums->seen[i].number))
            add(&sums->groups[sums->seen[i].group].gone, &sums->seen[i].counts);
    for (uint32_t i = 0; i <= LOOP_GROUPS_MAX; i++)
        sums->groups[i].sum = sums->groups[i].gone;
    for (size_t i = 0; i < count; i++)
        add(&sums->groups[now[i].group].sum, &now[i].counts);
    free(sums->seen);
    sums->seen = now;
    sums->seen_count = count;
}

int loop_sums_look(struct loop_sums *sums, struct profile *profile,
                   const struct process_sums *processes)
{
    size_t capacity = profile_loops(profile, 0, NULL, 0);
    struct loop_info *loops = calloc(capacity + 1, sizeof(*loops));
    struct seen_loop *now = calloc(capacity + 1, sizeof(*now));
    size_t count = loops && now ? profile_loops(profile, 0, loops, capacity) : 0;
    int rc;

    count = count < capacity ? count : capacity;
    rc = loops && now ? see(sums, now, loops, count, processes) : -ISOSCOPE_NO_MEMORY;
    free(loops);
    if (rc < 0)
        free(now);
    else
        replace(sums, now, count);
    return rc;
}

void loop_sums_free(struct loop_sums *sums)
{
    for (uint32_t i = 0; i <= LOOP_GROUPS_MAX; i++)
        json_text_free(&sums->groups[i].labels);
    free(sums->seen);
}
