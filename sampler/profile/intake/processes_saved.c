#include "processes_state.h"

#include <stdio.h>
#include <string.h>

static void take_over(struct process *process, const struct process_saved *saved)
{
    const struct process_info *info = &saved->info;

    process->pid = info->pid;
    process->ppid = info->ppid;
    snprintf(process->exe, sizeof(process->exe), "%s", info->exe);
    process->start_us = info->start_us;
    process->end_us = info->end_us;
    process->end_number = info->end_number;
    process->started = info->started;
    process->exit_known = info->exit_known;
    process->wait_status = info->wait_status;
    process->execed = saved->execed;
    process->corrupt = info->corrupt;
    process->status = info->status;
    process->runtimes = info->runtimes;
    process->place = info->place;
    snprintf(process->unknown_runtime, sizeof(process->unknown_runtime), "%s",
             info->unknown_runtime);
    process->owners.of[SAMPLES_OF_TIME]->evicted = info->evicted;
    atomic_store(&process->owners.of[SAMPLES_OF_TIME]->unstored, info->unstored);
    module_set_merge(&process->met, &saved->met);
}

static struct process *process_of(const struct process_saved *saved, uint64_t id)
{
    struct process *process = calloc(1, sizeof(*process));

    if (!process)
        return NULL;
    process->pidfd = -1;
    if (owners_new(&process->owners, id) < 0 || process_event_owners(process, id) < 0) {
        process_free(process);
        return NULL;
    }
    process->id = id;
    take_over(process, saved);
    return process;
}

/* With the lock. */
static int restore(struct processes *processes, const struct process_saved *saved,
                   struct owner **owner)
{
    uint64_t id = saved->info.id;
    struct process *process;

    while (find_process(processes, id))
        id += PID_STRIDE;
    if (processes_reserve(processes) < 0 || !(process = process_of(saved, id)))
        return -ISOSCOPE_NO_MEMORY;
    processes->list[processes->count++] = process;
    *owner = process->owners.of[SAMPLES_OF_TIME];
    return 0;
}

int processes_restore(struct processes *processes, const struct process_saved *saved,
                      struct owner **owner)
{
    int error;

    pthread_mutex_lock(&processes->lock);
    error = restore(processes, saved, owner);
    pthread_mutex_unlock(&processes->lock);
    return error;
}

struct owner *processes_event_owner(struct processes *processes, uint64_t process_id)
{
    const struct process *process;

    pthread_mutex_lock(&processes->lock);
    process = find_process(processes, process_id);
    pthread_mutex_unlock(&processes->lock);
    return process ? process->event_owner : NULL;
}

struct owner *processes_owner(struct processes *processes, uint64_t process_id,
                              enum sample_kind kind)
{
    const struct process *process;

    pthread_mutex_lock(&processes->lock);
    process = find_process(processes, process_id);
    pthread_mutex_unlock(&processes->lock);
    return process ? process->owners.of[kind] : NULL;
}

void processes_restore_again(struct processes *processes, uint64_t process_id,
                             const struct process_saved *saved)
{
    struct process *process;

    pthread_mutex_lock(&processes->lock);
    process = find_process(processes, process_id);
    if (process)
        take_over(process, saved);
    pthread_mutex_unlock(&processes->lock);
}

bool processes_saved(struct processes *processes, uint64_t process_id, struct process_saved *out)
{
    const struct process *process;

    pthread_mutex_lock(&processes->lock);
    process = find_process(processes, process_id);
    if (process) {
        process_describe(process,
                         store_counts(processes->stores->of[SAMPLES_OF_TIME],
                                      process->owners.of[SAMPLES_OF_TIME]),
                         &out->info);
        out->execed = process->execed;
        module_set_merge(&out->met, &process->met);
    }
    pthread_mutex_unlock(&processes->lock);
    return process;
}

/* With the lock. Those that lived when the session ended ended with it, after the others. */
static void number_ends(struct processes *processes)
{
    for (size_t i = 0; i < processes->count; i++)
        if (processes->list[i]->end_number > processes->ends)
            processes->ends = processes->list[i]->end_number;
    for (size_t i = 0; i < processes->count; i++)
        if (!processes->list[i]->end_number)
            processes->list[i]->end_number = ++processes->ends;
}

void processes_restore_cpu(struct processes *processes, const struct profile_cpu *total)
{
    struct profile_cpu listed = { 0 };

    pthread_mutex_lock(&processes->lock);
    for (size_t i = 0; i < processes->count; i++)
        add_cpu(&listed, processes->list[i]);
    number_ends(processes);
    /* Of those that the session does not list; the sum is the session's in any case. */
    processes->cpu = (struct profile_cpu){
        .processes = total->processes - listed.processes,
        .sampled_ns = total->sampled_ns - listed.sampled_ns,
        .not_sampled_ns = total->not_sampled_ns - listed.not_sampled_ns,
        .tree_ns = total->tree_ns,
    };
    pthread_mutex_unlock(&processes->lock);
}
