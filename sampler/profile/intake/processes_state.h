/*
 * processes_state.h - the list of processes and what guards it: for its own modules.
 *
 *   processes.c (who comes and ends), processes_shown.c (what readers get), processes_saved.c (those
 *   of a session)
 */
#ifndef ISOSCOPE_PROCESSES_STATE_H
#define ISOSCOPE_PROCESSES_STATE_H

#include "../../include/isoscope/isoscope.h"
#include "processes.h"

#include <pthread.h>
#include <stdlib.h>

enum { PID_STRIDE = 10000000 }; /* above every pid */

struct processes {
    const struct stores *stores;
    struct event_store *events;
    pthread_mutex_t lock;  /* guards the rest */
    struct process **list; /* changed in a round only */
    size_t count, capacity;
    uint64_t version; /* of what is shown of them, but for what the store counts */
    uint64_t ends;    /* that were shown */
    struct feed_settings settings;
    int32_t awaited_pid; /* whose exit will be told; 0: nobody's */
    /* Of those that are remembered no longer; tree_ns: what the kernel told at exits. */
    struct profile_cpu cpu;
    uint64_t lost_events; /* of those, too */
};

/* With the lock; NULL: there is none. */
static inline struct process *find_process(const struct processes *processes, uint64_t id)
{
    for (size_t i = 0; i < processes->count; i++)
        if (processes->list[i]->id == id)
            return processes->list[i];
    return NULL;
}

/* With the lock. */
static inline struct feed_settings settings_of(const struct processes *processes,
                                               const struct process *process)
{
    struct feed_settings settings = processes->settings;

    if (!process->own.given)
        return settings;
    settings.enabled = process->own.enabled;
    if (process->own.period_us)
        settings.period_us = process->own.period_us;
    return settings;
}

/* With the lock, of one that has a reader. */
static inline void tell_settings(const struct processes *processes, const struct process *process)
{
    const struct feed_settings settings = settings_of(processes, process);

    feed_reader_control(process->reader, &settings);
}

static inline void add_cpu(struct profile_cpu *to, const struct process *process)
{
    to->processes += !process->execed;
    to->sampled_ns += process->status.sampled_ns;
    to->not_sampled_ns += feed_not_sampled_ns(&process->status);
}

static inline int process_event_owners(struct process *process, uint64_t id)
{
    int error = owner_new(&process->event_owner, id);

    return error ? error : owner_new(&process->service_owner, id);
}

static inline uint64_t lost_events(const struct process *process)
{
    uint64_t sum = 0;

    for (int loss = 0; loss < FEED_EVENT_LOSS_COUNT; loss++)
        sum += process->status.events_lost[loss];
    return sum;
}

/* With the lock: room for one more. */
static inline int processes_reserve(struct processes *processes)
{
    size_t capacity = processes->capacity ? processes->capacity * 2 : 16;
    struct process **list;

    if (processes->count < processes->capacity)
        return 0;
    list = reallocarray(processes->list, capacity, sizeof(struct process *));
    if (!list)
        return -ISOSCOPE_NO_MEMORY;
    processes->list = list;
    processes->capacity = capacity;
    return 0;
}

#endif
