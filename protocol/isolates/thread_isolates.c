#include "thread_isolates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of one process, in a round; a program with more threads has its isolates chosen among these. */
enum { THREADS_LOOKED_AT = 256 };

struct threads {
    const struct process_info *process;
    struct profile_thread list[THREADS_LOOKED_AT];
    size_t count;
};

static void look_at_threads(struct threads *threads, struct profile *profile,
                            const struct process_info *process)
{
    size_t count = profile_threads(profile, process->id, threads->list, THREADS_LOOKED_AT);

    threads->process = process;
    threads->count = count < THREADS_LOOKED_AT ? count : THREADS_LOOKED_AT;
}

static const struct profile_thread *find_thread(const struct threads *threads, int32_t tid)
{
    for (size_t i = 0; i < threads->count; i++)
        if (threads->list[i].tid == tid)
            return &threads->list[i];
    return NULL;
}

/* What the others inherited: the first thread's name, or the executable's when that left nothing.
 */
static bool has_own_name(const struct threads *threads, const struct profile_thread *thread)
{
    const struct profile_thread *first = find_thread(threads, threads->process->pid);
    char inherited[sizeof(thread->name)];

    snprintf(inherited, sizeof(inherited), "%.15s", first ? first->name : threads->process->name);
    return *thread->name && strcmp(thread->name, inherited) != 0;
}

static void remove_at(struct thread_isolates *chosen, size_t at)
{
    chosen->count--;
    memmove(&chosen->items[at], &chosen->items[at + 1],
            (chosen->count - at) * sizeof(*chosen->items));
}

/* Counts and names anew. Who has no samples stays while the process lives: they may have been
 * cleared, by a client that is about to record. */
static void refresh(struct thread_isolates *chosen, const struct threads *threads)
{
    for (size_t i = chosen->count; i-- > 0;) {
        struct thread_isolate *item = &chosen->items[i];
        const struct profile_thread *thread;

        if (item->process_id != threads->process->id)
            continue;
        thread = find_thread(threads, item->thread.tid);
        if (thread) {
            item->thread = *thread;
            item->named = has_own_name(threads, thread);
        } else if (threads->process->live) {
            item->thread.samples = 0;
        } else {
            remove_at(chosen, i);
        }
    }
}

static bool is_chosen(const struct thread_isolates *chosen, const struct threads *threads,
                      const struct profile_thread *thread)
{
    for (size_t i = 0; i < chosen->count; i++)
        if (chosen->items[i].process_id == threads->process->id &&
            chosen->items[i].thread.tid == thread->tid)
            return true;
    return false;
}

/* One whose place another may take: without samples, or (for a named one) the least busy unnamed.
 */
static bool gives_way(const struct thread_isolate *item, bool to_named)
{
    return !item->thread.samples || (to_named && !item->named);
}

/* False: nobody gives way. */
static bool make_room(struct thread_isolates *chosen, bool for_named)
{
    const struct thread_isolate *least = NULL;

    if (chosen->count < THREAD_ISOLATES_MAX)
        return true;
    for (size_t i = 0; i < chosen->count; i++) {
        const struct thread_isolate *item = &chosen->items[i];

        if (gives_way(item, for_named) && (!least || item->thread.samples < least->thread.samples))
            least = item;
    }
    if (least)
        remove_at(chosen, (size_t)(least - chosen->items));
    return least;
}

static void choose(struct thread_isolates *chosen, const struct threads *threads,
                   const struct profile_thread *thread)
{
    bool named = has_own_name(threads, thread);

    if (is_chosen(chosen, threads, thread) || (!named && thread->samples < THREAD_SAMPLES_MIN))
        return;
    if (!make_room(chosen, named))
        return;
    chosen->items[chosen->count++] = (struct thread_isolate){
        .process_id = threads->process->id,
        .thread = *thread,
        .named = named,
    };
}

/* The busiest first. */
static int by_samples(const void *left, const void *right)
{
    const struct profile_thread *a = left, *b = right;

    if (a->samples != b->samples)
        return a->samples > b->samples ? -1 : 1;
    return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static void update_process(struct thread_isolates *chosen, struct threads *threads)
{
    refresh(chosen, threads);
    if (threads->count < 2) /* what its one thread did, the process' isolate shows */
        return;
    qsort(threads->list, threads->count, sizeof(*threads->list), by_samples);
    for (size_t i = 0; i < threads->count; i++)
        choose(chosen, threads, &threads->list[i]);
}

static bool is_there(const struct thread_isolate *item, const struct process_info *processes,
                     size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (processes[i].id == item->process_id)
            return true;
    return false;
}

static uint64_t sum_of(const struct process_info *processes, size_t count)
{
    uint64_t sum = count;

    for (size_t i = 0; i < count; i++)
        sum = sum * 31 + 2 * (processes[i].samples + processes[i].evicted) + processes[i].live;
    return sum;
}

void thread_isolates_update(struct thread_isolates *chosen, struct profile *profile,
                            const struct process_info *processes, size_t count)
{
    uint64_t sum = sum_of(processes, count);
    struct threads threads;

    if (sum == chosen->seen)
        return;
    chosen->seen = sum;
    for (size_t i = chosen->count; i-- > 0;)
        if (!is_there(&chosen->items[i], processes, count))
            remove_at(chosen, i);
    for (size_t i = 0; i < count; i++) {
        look_at_threads(&threads, profile, &processes[i]);
        update_process(chosen, &threads);
    }
}
