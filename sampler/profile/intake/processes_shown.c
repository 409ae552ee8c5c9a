#include "processes_state.h"

struct profile_cpu processes_cpu(struct processes *processes)
{
    struct profile_cpu cpu;

    pthread_mutex_lock(&processes->lock);
    cpu = processes->cpu;
    for (size_t i = 0; i < processes->count; i++)
        add_cpu(&cpu, processes->list[i]);
    pthread_mutex_unlock(&processes->lock);
    return cpu;
}

static void describe(struct processes *processes, const struct process *process,
                     struct process_info *out)
{
    const struct feed_settings settings = settings_of(processes, process);

    process_describe(
        process,
        store_counts(processes->stores->of[SAMPLES_OF_TIME], process->owners.of[SAMPLES_OF_TIME]),
        out);
    out->others = stores_count_others(processes->stores, &process->owners);
    out->enabled = settings.enabled;
    out->period_us = settings.period_us;
}

size_t processes_list(struct processes *processes, struct process_info *out, size_t capacity)
{
    size_t count;

    pthread_mutex_lock(&processes->lock);
    count = processes->count;
    for (size_t i = 0; i < count && i < capacity; i++)
        describe(processes, processes->list[i], &out[i]);
    pthread_mutex_unlock(&processes->lock);
    return count;
}

bool processes_find(struct processes *processes, uint64_t process_id, struct process_info *out)
{
    struct process *process;

    pthread_mutex_lock(&processes->lock);
    process = find_process(processes, process_id);
    if (process)
        describe(processes, process, out);
    pthread_mutex_unlock(&processes->lock);
    return process != NULL;
}

/* The store's part under the same lock: its counts are shown with the rest. */
uint64_t processes_version(struct processes *processes)
{
    uint64_t version;

    pthread_mutex_lock(&processes->lock);
    version = processes->version + stores_version(processes->stores);
    pthread_mutex_unlock(&processes->lock);
    return version;
}

void processes_met(struct processes *processes, uint64_t process_id, struct module_set *out)
{
    struct process *process;

    pthread_mutex_lock(&processes->lock);
    process = find_process(processes, process_id);
    if (process)
        module_set_merge(out, &process->met);
    pthread_mutex_unlock(&processes->lock);
}

void processes_clear(struct processes *processes, uint64_t process_id)
{
    pthread_mutex_lock(&processes->lock);
    for (size_t i = 0; i < processes->count; i++)
        if (process_id == 0 || processes->list[i]->id == process_id)
            stores_clear(processes->stores, &processes->list[i]->owners);
    pthread_mutex_unlock(&processes->lock);
}

void processes_clear_events(struct processes *processes, uint64_t process_id)
{
    pthread_mutex_lock(&processes->lock);
    for (size_t i = 0; i < processes->count; i++)
        if (process_id == 0 || processes->list[i]->id == process_id) {
            event_store_clear(processes->events, processes->list[i]->event_owner);
            event_store_clear(processes->events, processes->list[i]->service_owner);
        }
    pthread_mutex_unlock(&processes->lock);
}

uint64_t processes_lost_events(struct processes *processes)
{
    uint64_t lost;

    pthread_mutex_lock(&processes->lock);
    lost = processes->lost_events;
    for (size_t i = 0; i < processes->count; i++)
        lost += lost_events(processes->list[i]);
    pthread_mutex_unlock(&processes->lock);
    return lost;
}

void processes_clear_thread(struct processes *processes, uint64_t process_id, int32_t tid)
{
    struct process *process;

    pthread_mutex_lock(&processes->lock);
    process = find_process(processes, process_id);
    if (process)
        stores_clear_thread(processes->stores, &process->owners, tid);
    pthread_mutex_unlock(&processes->lock);
}

bool processes_states(struct processes *processes, uint64_t process_id, int32_t tid,
                      uint64_t counts[OWNER_STATES])
{
    struct process *process;

    pthread_mutex_lock(&processes->lock);
    process = find_process(processes, process_id);
    if (process)
        store_states(processes->stores->of[SAMPLES_OF_TIME], process->owners.of[SAMPLES_OF_TIME],
                     tid, counts);
    pthread_mutex_unlock(&processes->lock);
    return process != NULL;
}

size_t processes_threads(struct processes *processes, uint64_t process_id,
                         struct profile_thread *out, size_t capacity)
{
    struct process *process;
    size_t count = 0;

    pthread_mutex_lock(&processes->lock);
    process = find_process(processes, process_id);
    if (process)
        count = store_threads(processes->stores->of[SAMPLES_OF_TIME],
                              process->owners.of[SAMPLES_OF_TIME], out, capacity);
    pthread_mutex_unlock(&processes->lock);
    return count;
}

struct feed_settings processes_settings(struct processes *processes)
{
    struct feed_settings settings;

    pthread_mutex_lock(&processes->lock);
    settings = processes->settings;
    pthread_mutex_unlock(&processes->lock);
    return settings;
}

struct feed_settings processes_settings_of(struct processes *processes,
                                           const struct process *process)
{
    struct feed_settings settings;

    pthread_mutex_lock(&processes->lock);
    settings = settings_of(processes, process);
    pthread_mutex_unlock(&processes->lock);
    return settings;
}

bool processes_apply_own(struct processes *processes, uint64_t process_id,
                         const struct process_settings *settings)
{
    struct process *process;
    bool live;

    pthread_mutex_lock(&processes->lock);
    process = find_process(processes, process_id);
    live = process && process->reader;
    if (live) {
        process->own = *settings;
        processes->version++;
        tell_settings(processes, process);
    }
    pthread_mutex_unlock(&processes->lock);
    return live;
}

void processes_apply(struct processes *processes, const struct feed_settings *settings)
{
    pthread_mutex_lock(&processes->lock);
    processes->settings = *settings;
    for (size_t i = 0; i < processes->count; i++)
        if (processes->list[i]->reader)
            tell_settings(processes, processes->list[i]);
    pthread_mutex_unlock(&processes->lock);
}
