#include "process_sums.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t number_of(struct process_sums *sums, const char *name)
{
    for (uint32_t i = 0; i < sums->name_count; i++)
        if (!strcmp(sums->names[i].name, name))
            return i;
    if (sums->name_count < PROCESS_NAMES_MAX && strcmp(name, METRICS_OTHER) != 0) {
        snprintf(sums->names[sums->name_count].name, sizeof(sums->names[0].name), "%s", name);
        return sums->name_count++;
    }
    strcpy(sums->names[PROCESS_NAMES_MAX].name, METRICS_OTHER);
    return PROCESS_NAMES_MAX;
}

static void add(struct process_counts *sum, const struct process_counts *counts)
{
    sum->samples += counts->samples;
    sum->upkeep_ns += counts->upkeep_ns;
    for (int loss = 0; loss < FEED_LOSS_COUNT; loss++)
        sum->lost[loss] += counts->lost[loss];
}

static struct seen_process seen_of(struct process_sums *sums, const struct process_info *process)
{
    struct seen_process seen = { .id = process->id,
                                 .name = number_of(sums, process->name),
                                 .counts = { .samples = process->samples + process->evicted,
                                             .upkeep_ns = process->status.upkeep_ns } };

    memcpy(seen.counts.lost, process->status.lost, sizeof(seen.counts.lost));
    return seen;
}

static int by_id(const void *a, const void *b)
{
    uint64_t first = ((const struct seen_process *)a)->id;
    uint64_t second = ((const struct seen_process *)b)->id;

    return (first > second) - (first < second);
}

static const struct seen_process *find(const struct seen_process *seen, size_t count, uint64_t id)
{
    struct seen_process wanted = { .id = id };

    return count ? bsearch(&wanted, seen, count, sizeof(*seen), by_id) : NULL;
}

/* Those that are not in now. */
static void keep_gone(struct process_sums *sums, const struct seen_process *now, size_t count)
{
    for (size_t i = 0; i < sums->seen_count; i++) {
        const struct seen_process *seen = &sums->seen[i];

        if (find(now, count, seen->id))
            continue;
        add(&sums->gone, &seen->counts);
        sums->names[seen->name].gone_samples += seen->counts.samples;
    }
}

static void sum_up(struct process_sums *sums)
{
    sums->sum = sums->gone;
    for (uint32_t i = 0; i <= PROCESS_NAMES_MAX; i++)
        sums->names[i].samples = sums->names[i].gone_samples;
    for (size_t i = 0; i < sums->seen_count; i++) {
        add(&sums->sum, &sums->seen[i].counts);
        sums->names[sums->seen[i].name].samples += sums->seen[i].counts.samples;
    }
}

int process_sums_look(struct process_sums *sums, struct profile *profile)
{
    size_t capacity = profile_processes(profile, NULL, 0);
    struct process_info *processes = calloc(capacity + 1, sizeof(*processes));
    struct seen_process *now = calloc(capacity + 1, sizeof(*now));
    size_t count = processes && now ? profile_processes(profile, processes, capacity) : 0;

    if (!processes || !now) {
        free(processes);
        free(now);
        return -ISOSCOPE_NO_MEMORY;
    }
    count = count < capacity ? count : capacity;
    for (uint32_t i = 0; i <= PROCESS_NAMES_MAX; i++)
        sums->names[i].live = 0;
    for (size_t i = 0; i < count; i++) {
        now[i] = seen_of(sums, &processes[i]);
        sums->names[now[i].name].live += processes[i].live;
    }
    free(processes);
    qsort(now, count, sizeof(*now), by_id);
    keep_gone(sums, now, count);
    free(sums->seen);
    sums->seen = now;
    sums->seen_count = count;
    sum_up(sums);
    return 0;
}

const char *process_sums_name(const struct process_sums *sums, uint64_t process_id)
{
    const struct seen_process *seen = find(sums->seen, sums->seen_count, process_id);

    return seen ? sums->names[seen->name].name : METRICS_OTHER;
}

void process_sums_free(struct process_sums *sums)
{
    free(sums->seen);
}
