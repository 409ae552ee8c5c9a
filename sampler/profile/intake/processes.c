#include "processes_state.h"

#include "../../include/isoscope/isoscope.h"
#include "../loops/watcher.h"

#include <stdlib.h>
#include <string.h>

/* Ended processes without samples and events are remembered up to here; then the oldest are forgotten. */
enum { REMEMBERED_MAX = 1024 };

int processes_new(struct processes **out, const struct stores *stores, struct event_store *events,
                  const struct feed_settings *settings)
{
    struct processes *processes = calloc(1, sizeof(*processes));

    if (!processes)
        return -ISOSCOPE_NO_MEMORY;
    pthread_mutex_init(&processes->lock, NULL);
    processes->stores = stores;
    processes->events = events;
    processes->settings = *settings;
    processes->version = 1;
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

static bool left_nothing(struct processes *processes, const struct process *process)
{
    return !process->reader && !stores_have_samples(processes->stores, &process->owners) &&
           !event_store_has(processes->events, process->event_owner);
}

static void forget_process(struct processes *processes, struct process *process)
{
    size_t number = 0;

    add_cpu(&processes->cpu, process);
    processes->lost_events += lost_events(process);
    event_store_forget(processes->events, process->service_owner);
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
        if (!left_nothing(processes, processes->list[i]))
            continue;
        forget_process(processes, processes->list[i]);
        return;
    }
}

/* An earlier program that left no sample (a shell that became the program it was to start) is
 * replaced: nobody misses it. */
static void choose_id(struct processes *processes, struct process *process)
{
    struct process *before;

    process->id = process->pid > 0 ? (uint64_t)process->pid : PID_STRIDE;
    while ((before = find_process(processes, process->id))) {
        if (left_nothing(processes, before)) {
            forget_process(processes, before);
        } else {
            process->id += PID_STRIDE;
        }
    }
}

/* Programs of one process have one CPU clock, which exec does not set back. What the last one's
 * samples stand for may be newer than its look at the clock. */
static uint64_t cpu_before(const struct processes *processes, int32_t pid)
{
    const struct process *before = NULL;

    for (size_t i = 0; i < processes->count; i++)
        if (processes->list[i]->pid == pid)
            before = processes->list[i];
    if (!before || !before->execed)
        return 0;
    return before->before_ns + (before->status.cpu_ns > before->status.sampled_ns
                                    ? before->status.cpu_ns
                                    : before->status.sampled_ns);
}

/* What is asked of a process is asked of what it becomes by exec. */
static struct process_settings own_of_before(const struct processes *processes, int32_t pid)
{
    for (size_t i = processes->count; i-- > 0;)
        if (processes->list[i]->pid == pid && processes->list[i]->execed)
            return processes->list[i]->own;
    return (struct process_settings){ .given = false };
}

static int enter_locked(struct processes *processes, struct process *process)
{
    processes->version++;
    process->before_ns = cpu_before(processes, process->pid);
    if (processes->count >= REMEMBERED_MAX)
        forget_the_oldest(processes);
    choose_id(processes, process);
    if (processes_reserve(processes) < 0 || owners_new(&process->owners, process->id) < 0 ||
        process_event_owners(process, process->id) < 0)
        return -ISOSCOPE_NO_MEMORY;
    process->started = process->pid > 0 && process->pid == processes->awaited_pid;
    process_status(process, &process->status);
    process->own = own_of_before(processes, process->pid);
    tell_settings(processes, process);
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

/* Returns whether what is shown has changed. */
static bool copy_status(struct process *process)
{
    const struct feed_status_view status = process->status;
    uint64_t corrupt = process->corrupt, unstored = process->unstored;
    uint32_t runtimes = process->runtimes, shown = process->shown_runtimes;

    process_status(process, &process->status);
    process->corrupt = feed_reader_corrupt(process->reader) + process->impossible;
    process->unstored = owners_unstored(&process->owners);
    process->runtimes |= process->runtimes_now;
    process->shown_runtimes = runtimes_of_kinds(process->looks.told);
    memcpy(process->unknown_runtime, process->looks.reason, sizeof(process->unknown_runtime));
    return memcmp(&status, &process->status, sizeof(status)) != 0 || corrupt != process->corrupt ||
           unstored != process->unstored || runtimes != process->runtimes ||
           shown != process->shown_runtimes;
}

void processes_update(struct processes *processes, struct process *process, bool ended)
{
    pthread_mutex_lock(&processes->lock);
    processes->version += copy_status(process) || ended;
    module_set_merge(&process->met, &process->met_now);
    module_set_free(&process->met_now);
    if (ended) {
        /* Hundreds of ended ones may be remembered: they keep their numbers, and nothing else. */
        process_retire(process);
        process->end_us = process->ended_us;
        process->end_number = ++processes->ends;
    }
    pthread_mutex_unlock(&processes->lock);
}

struct process_hints processes_hints(struct processes *processes, const struct process *process)
{
    struct process_hints hints;

    pthread_mutex_lock(&processes->lock);
    hints = (struct process_hints){
        .replaced = process->replaced,
        /* A program that went on as another one by exec has not exited. */
        .exit_awaited = process->pid == processes->awaited_pid && !process->replaced,
    };
    pthread_mutex_unlock(&processes->lock);
    return hints;
}

bool processes_suspect(struct processes *processes, int32_t pid)
{
    bool any = false;

    pthread_mutex_lock(&processes->lock);
    for (size_t i = 0; i < processes->count; i++) {
        struct process *process = processes->list[i];

        if (process->pid != pid || !process->reader)
            continue;
        process->replaced = true;
        rounds_pause(process->wall);
        watcher_pause(process->loops);
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
    processes->version++;
    pthread_mutex_unlock(&processes->lock);
}

/* It is the last of the programs that had the pid. */
void processes_exited(struct processes *processes, const struct profile_exit *end)
{
    struct process *last = NULL;

    pthread_mutex_lock(&processes->lock);
    processes->cpu.tree_ns += end->cpu_ns;
    if (processes->awaited_pid == end->pid)
        processes->awaited_pid = 0;
    for (size_t i = 0; i < processes->count; i++)
        if (processes->list[i]->pid == end->pid)
            last = processes->list[i];
    if (last) {
        last->exit_known = true;
        last->wait_status = end->wait_status;
    }
    processes->version++;
    pthread_mutex_unlock(&processes->lock);
}
