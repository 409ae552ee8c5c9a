#include "processes.h"

#include "../include/isoscope/isoscope.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* Ended processes without samples are remembered up to here; then the oldest are forgotten. */
    REMEMBERED_MAX = 1024,
    PID_STRIDE = 10000000, /* above every pid */
};

struct processes {
    struct store *store;
    pthread_mutex_t lock;  /* guards the rest */
    struct process **list; /* changed in a round only */
    size_t count, capacity;
    struct feed_settings settings;
    int32_t awaited_pid; /* whose exit will be told; 0: nobody's */
};

int processes_new(struct processes **out, struct store *store, const struct feed_settings *settings)
{
    struct processes *processes = calloc(1, sizeof(*processes));

    if (!processes)
        return -ISOSCOPE_NO_MEMORY;
    pthread_mutex_init(&processes->lock, NULL);
    processes->store = store;
    processes->settings = *settings;
    *out = processes;
    return 0;
}

void processes_free(struct processes *processes)
{
    if (!processes)
        return;
    for (size_t i = 0; i < processes->count; i++)
        process_free(processes->list[i]);
    free(processes->list);
    pthread_mutex_destroy(&processes->lock);
    free(processes);
}

static struct process *find(const struct processes *processes, uint64_t id)
{
    for (size_t i = 0; i < processes->count; i++)
        if (processes->list[i]->id == id)
            return processes->list[i];
    return NULL;
}

static bool left_no_sample(struct processes *processes, const struct process *process)
{
    return !process->reader && !store_counts(processes->store, process->owner).samples;
}

static void forget(struct processes *processes, struct process *process)
{
    size_t number = 0;

    while (processes->list[number] != process)
        number++;
    memmove(&processes->list[number], &processes->list[number + 1],
            (processes->count - number - 1) * sizeof(struct process *));
    processes->count--;
    process_free(process);
}

static void forget_the_oldest(struct processes *processes)
{
    for (size_t i = 0; i < processes->count; i++) {
        if (!left_no_sample(processes, processes->list[i]))
            continue;
        forget(processes, processes->list[i]);
        return;
    }
}

/* An earlier program that left no sample (a shell that became the program it was to start) is
 * replaced: nobody misses it. Its hangup, when still to come, will bear the same id. */
static void choose_id(struct processes *processes, struct process *process)
{
    struct process *before;

    process->id = process->pid > 0 ? (uint64_t)process->pid : PID_STRIDE;
    while ((before = find(processes, process->id))) {
        if (left_no_sample(processes, before)) {
            process->hangups_owed = before->hangups_owed + !before->heard_hangup;
            forget(processes, before);
        } else {
            process->id += PID_STRIDE;
        }
    }
}

static int reserve(struct processes *processes)
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

static int enter_locked(struct processes *processes, struct process *process)
{
    if (processes->count >= REMEMBERED_MAX)
        forget_the_oldest(processes);
    choose_id(processes, process);
    if (reserve(processes) < 0 || owner_new(&process->owner, process->id) < 0)
        return -ISOSCOPE_NO_MEMORY;
    process->started = process->pid > 0 && process->pid == processes->awaited_pid;
    feed_reader_status(process->reader, &process->status);
    feed_reader_control(process->reader, &processes->settings);
    processes->list[processes->count++] = process;
    return 0;
}

int processes_enter(struct processes *processes, struct process *process)
{
    int error;

    pthread_mutex_lock(&processes->lock);
    error = enter_locked(processes, process);
    pthread_mutex_unlock(&processes->lock);
    if (error)
        process_free(process);
    return error;
}

struct process *processes_at(struct processes *processes, size_t number)
{
    return number < processes->count ? processes->list[number] : NULL;
}

void processes_update(struct processes *processes, struct process *process, bool ended)
{
    pthread_mutex_lock(&processes->lock);
    feed_reader_status(process->reader, &process->status);
    process->corrupt = feed_reader_corrupt(process->reader) + process->impossible;
    module_set_merge(&process->met, &process->met_now);
    module_set_free(&process->met_now);
    if (ended) {
        /* Hundreds of ended ones may be remembered: they keep their numbers, and nothing else. */
        process_retire(process);
        process->end_us = process->ended_us;
    }
    pthread_mutex_unlock(&processes->lock);
}

struct process_hints processes_hints(struct processes *processes, const struct process *process)
{
    struct process_hints hints;

    pthread_mutex_lock(&processes->lock);
    hints = (struct process_hints){
        .hung_up = process->hung_up,
        .goodbye = process->goodbye,
        /* A program that went on as another one by exec has not exited. */
        .exit_awaited = process->pid == processes->awaited_pid && !process->replaced,
    };
    pthread_mutex_unlock(&processes->lock);
    return hints;
}

void processes_hangup(struct processes *processes, uint64_t process_id, bool goodbye)
{
    struct process *process;

    pthread_mutex_lock(&processes->lock);
    process = find(processes, process_id);
    if (process && process->hangups_owed && !goodbye) {
        process->hangups_owed--;
    } else if (process) {
        process->heard_hangup = true;
        process->hung_up = true;
        process->goodbye |= goodbye;
    }
    pthread_mutex_unlock(&processes->lock);
}

/* Its own hangup may come late, or never: a child can hold its socket open. */
bool processes_suspect(struct processes *processes, int32_t pid)
{
    bool any = false;

    pthread_mutex_lock(&processes->lock);
    for (size_t i = 0; i < processes->count; i++) {
        struct process *process = processes->list[i];

        if (process->pid != pid || !process->reader)
            continue;
        process->hung_up = true;
        process->replaced = true;
        any = true;
    }
    pthread_mutex_unlock(&processes->lock);
    return any;
}

bool processes_any_live(struct processes *processes)
{
    bool any = false;

    pthread_mutex_lock(&processes->lock);
    for (size_t i = 0; i < processes->count && !any; i++)
        any = processes->list[i]->reader != NULL;
    pthread_mutex_unlock(&processes->lock);
    return any;
}

void processes_await_exit(struct processes *processes, int32_t pid)
{
    pthread_mutex_lock(&processes->lock);
    processes->awaited_pid = pid;
    for (size_t i = 0; i < processes->count; i++)
        processes->list[i]->started |= processes->list[i]->pid == pid;
    pthread_mutex_unlock(&processes->lock);
}

/* It is the last of the programs that had the pid. */
void processes_exited(struct processes *processes, int32_t pid, int wait_status)
{
    struct process *last = NULL;

    pthread_mutex_lock(&processes->lock);
    if (processes->awaited_pid == pid)
        processes->awaited_pid = 0;
    for (size_t i = 0; i < processes->count; i++)
        if (processes->list[i]->pid == pid)
            last = processes->list[i];
    if (last) {
        last->exit_known = true;
        last->wait_status = wait_status;
    }
    pthread_mutex_unlock(&processes->lock);
}

static void describe(struct processes *processes, const struct process *process,
                     struct process_info *out)
{
    process_describe(process, store_counts(processes->store, process->owner), out);
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
    process = find(processes, process_id);
    if (process)
        describe(processes, process, out);
    pthread_mutex_unlock(&processes->lock);
    return process != NULL;
}

void processes_met(struct processes *processes, uint64_t process_id, struct module_set *out)
{
    struct process *process;

    pthread_mutex_lock(&processes->lock);
    process = find(processes, process_id);
    if (process)
        module_set_merge(out, &process->met);
    pthread_mutex_unlock(&processes->lock);
}

void processes_clear(struct processes *processes, uint64_t process_id)
{
    pthread_mutex_lock(&processes->lock);
    for (size_t i = 0; i < processes->count; i++)
        if (process_id == 0 || processes->list[i]->id == process_id)
            store_clear(processes->store, processes->list[i]->owner);
    pthread_mutex_unlock(&processes->lock);
}

void processes_clear_thread(struct processes *processes, uint64_t process_id, int32_t tid)
{
    struct process *process;

    pthread_mutex_lock(&processes->lock);
    process = find(processes, process_id);
    if (process)
        store_clear_thread(processes->store, process->owner, tid);
    pthread_mutex_unlock(&processes->lock);
}

bool processes_states(struct processes *processes, uint64_t process_id, int32_t tid,
                      uint64_t counts[OWNER_STATES])
{
    struct process *process;

    pthread_mutex_lock(&processes->lock);
    process = find(processes, process_id);
    if (process)
        store_states(processes->store, process->owner, tid, counts);
    pthread_mutex_unlock(&processes->lock);
    return process != NULL;
}

size_t processes_threads(struct processes *processes, uint64_t process_id,
                         struct profile_thread *out, size_t capacity)
{
    struct process *process;
    size_t count = 0;

    pthread_mutex_lock(&processes->lock);
    process = find(processes, process_id);
    if (process)
        count = store_threads(processes->store, process->owner, out, capacity);
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

static void tell_all(struct processes *processes)
{
    for (size_t i = 0; i < processes->count; i++)
        if (processes->list[i]->reader)
            feed_reader_control(processes->list[i]->reader, &processes->settings);
}

void processes_set_enabled(struct processes *processes, bool enabled)
{
    pthread_mutex_lock(&processes->lock);
    processes->settings.enabled = enabled;
    tell_all(processes);
    pthread_mutex_unlock(&processes->lock);
}

void processes_set_period_us(struct processes *processes, uint32_t period_us)
{
    pthread_mutex_lock(&processes->lock);
    processes->settings.period_us = period_us;
    tell_all(processes);
    pthread_mutex_unlock(&processes->lock);
}

void processes_set_depth_max(struct processes *processes, uint32_t depth_max)
{
    pthread_mutex_lock(&processes->lock);
    processes->settings.depth_max = depth_max;
    tell_all(processes);
    pthread_mutex_unlock(&processes->lock);
}

void processes_set_mode(struct processes *processes, enum feed_mode mode)
{
    pthread_mutex_lock(&processes->lock);
    processes->settings.mode = mode;
    tell_all(processes);
    pthread_mutex_unlock(&processes->lock);
}

void processes_set_wall_threads(struct processes *processes, const char *list)
{
    pthread_mutex_lock(&processes->lock);
    memset(processes->settings.wall_threads, 0, sizeof(processes->settings.wall_threads));
    memcpy(processes->settings.wall_threads, list, strlen(list));
    tell_all(processes);
    pthread_mutex_unlock(&processes->lock);
}
