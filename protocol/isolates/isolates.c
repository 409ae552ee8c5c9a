#include "isolates.h"

#include "isolate_labels.h"
#include "../generated/words.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPARE_PROCESSES = 8 };

static int fetch(struct process_list *list, struct profile *profile)
{
    size_t count = profile_processes(profile, list->items, list->capacity);

    /* Again, because more may have come between the two calls. */
    while (count > list->capacity) {
        size_t capacity = count + count / 2 + SPARE_PROCESSES;
        struct process_info *items = realloc(list->items, capacity * sizeof(*items));

        if (!items)
            return -ISOSCOPE_NO_MEMORY;
        list->items = items;
        list->capacity = capacity;
        count = profile_processes(profile, list->items, list->capacity);
    }
    list->count = count;
    return 0;
}

/* A number that no process has: these are below 10^9, but for a pid's hundredth program. */
#define THREAD_NUMBER UINT64_C(1000000000)

static bool has_number(const struct thread_isolate *thread)
{
    return thread->process_id < THREAD_NUMBER;
}

static uint64_t number_of(const struct thread_isolate *thread)
{
    return (uint64_t)thread->thread.tid * THREAD_NUMBER + thread->process_id;
}

enum {
    /* A process that has ended with fewer samples is shown only while it has its share of all. */
    SAMPLES_ENOUGH = 20,
    SHARES_ENOUGH = 20, /* a twentieth */
    PID_STRIDE = 10000000,
};

/* The one before in order of names that are not less. */
static size_t place_of(const struct process_names *names, const char *name)
{
    size_t from = 0, to = names->count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (strcmp(names->items[middle]->name, name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Another process is shown by the same name. */
static bool repeats(const struct process_names *names, const struct process_info *process)
{
    for (size_t i = place_of(names, process->name);
         i < names->count && !strcmp(names->items[i]->name, process->name); i++)
        if (names->items[i]->id != process->id)
            return true;
    return false;
}

/* Behind the name: its pid, and which of the programs that had the pid it is. */
static void write_pid(char out[40], const struct process_info *process)
{
    uint64_t later = (process->id - (uint64_t)process->pid) / PID_STRIDE;

    if (process->pid <= 0)
        snprintf(out, 40, " %" PRIu64, process->id);
    else if (later)
        snprintf(out, 40, " %" PRId32 " #%" PRIu64, process->pid, later + 1);
    else
        snprintf(out, 40, " %" PRId32, process->pid);
}

/* getVM lists it. Of what a process allocated or waited for it needs enough, and its share: with a small
 * --alloc each of a hundred shells has some. */
static bool shows(const struct isolates *isolates, const struct process_info *process)
{
    return process->live || process == isolates->main || process->samples >= SAMPLES_ENOUGH ||
           (process->samples > 0 && process->samples * SHARES_ENOUGH >= isolates->samples) ||
           (process->others >= SAMPLES_ENOUGH &&
            process->others * SHARES_ENOUGH >= isolates->others);
}

static struct isolate of_process(const struct isolates *isolates,
                                 const struct process_info *process)
{
    struct isolate isolate = { .process = process,
                               .number = process->id,
                               .shown = shows(isolates, process) };
    char pid[40] = "";

    if (repeats(&isolates->names, process))
        write_pid(pid, process);
    snprintf(isolate.name, sizeof(isolate.name), "%s:main()%s", process->name, pid);
    isolate_labels_apply(isolates->labels, &isolate);
    return isolate;
}

static struct isolate of_thread(const struct isolates *isolates, const struct process_info *process,
                                const struct thread_isolate *thread)
{
    struct isolate isolate = { .process = process,
                               .tid = thread->thread.tid,
                               .number = number_of(thread),
                               .shown = shows(isolates, process) };

    snprintf(isolate.name, sizeof(isolate.name), "%s (%" PRId32 ")", thread->thread.name,
             isolate.tid);
    isolate_labels_apply(isolates->labels, &isolate);
    return isolate;
}

static const struct process_info *process_in(const struct process_list *list, uint64_t id)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].id == id)
            return &list->items[i];
    return NULL;
}

/* What the isolate's number says is chosen. */
static bool has_thread(const struct thread_isolates *threads, const struct thread_isolate *thread)
{
    for (size_t i = 0; i < threads->count; i++)
        if (number_of(&threads->items[i]) == number_of(thread))
            return true;
    return false;
}

struct teller {
    const struct isolates *isolates;
    isolates_changed *changed;
    void *context;
};

static void tell_of_process(const struct teller *teller, const char *kind,
                            const struct process_info *process)
{
    struct isolate isolate = of_process(teller->isolates, process);

    teller->changed(teller->context, kind, &isolate);
}

static void tell_of_start(const struct teller *teller, const struct process_info *process)
{
    tell_of_process(teller, KIND_ISOLATE_START, process);
    tell_of_process(teller, KIND_ISOLATE_RUNNABLE, process);
    if (!process->live)
        tell_of_process(teller, KIND_ISOLATE_EXIT, process);
}

/* A program that exec replaced before it left a sample leaves its id, too. */
static bool is_same(const struct process_info *one, const struct process_info *other)
{
    return one->id == other->id && one->start_us == other->start_us;
}

/* It lives, and its name has got a pid or lost it. */
static bool is_renamed(const struct teller *teller, const struct process_info *old,
                       const struct process_info *now)
{
    const struct isolates *isolates = teller->isolates;

    return now->live && repeats(&isolates->names_before, old) != repeats(&isolates->names, now);
}

/* Both lists are in order of arrival, so one walk over them finds every difference. How a process
 * ended may become known after its end. */
static void tell_of_processes(const struct teller *teller)
{
    const struct process_list *before = &teller->isolates->before, *now = &teller->isolates->now;
    size_t at = 0;

    for (size_t i = 0; i < before->count; i++) {
        const struct process_info *old = &before->items[i];
        bool there = at < now->count && is_same(&now->items[at], old);
        const struct process_info *as_it_is = there ? &now->items[at++] : old;

        if (old->live && !(there && as_it_is->live))
            tell_of_process(teller, KIND_ISOLATE_EXIT, as_it_is);
        else if ((as_it_is->exit_known && !old->exit_known) || is_renamed(teller, old, as_it_is))
            tell_of_process(teller, KIND_ISOLATE_UPDATE, as_it_is);
    }
    for (; at < now->count; at++)
        tell_of_start(teller, &now->items[at]);
}

/* The threads of one table that are not in the other. */
static void tell_of_threads(const struct teller *teller, const struct thread_isolates *of,
                            const struct thread_isolates *but, const struct process_list *processes,
                            const char *const kinds[])
{
    for (size_t i = 0; i < of->count; i++) {
        const struct process_info *process = process_in(processes, of->items[i].process_id);
        struct isolate isolate;

        if (!process || !has_number(&of->items[i]) || has_thread(but, &of->items[i]))
            continue;
        isolate = of_thread(teller->isolates, process, &of->items[i]);
        for (size_t kind = 0; kinds[kind]; kind++)
            teller->changed(teller->context, kinds[kind], &isolate);
    }
}

static void tell(const struct isolates *isolates, isolates_changed *changed, void *context)
{
    static const char *const gone[] = { KIND_ISOLATE_EXIT, NULL };
    static const char *const come[] = { KIND_ISOLATE_START, KIND_ISOLATE_RUNNABLE, NULL };
    struct teller teller = { isolates, changed, context };

    tell_of_threads(&teller, &isolates->threads_before, &isolates->threads, &isolates->before,
                    gone);
    tell_of_processes(&teller);
    tell_of_threads(&teller, &isolates->threads, &isolates->threads_before, &isolates->now, come);
}

static int reserve_isolate(struct isolates *isolates)
{
    size_t capacity = isolates->now.count + THREAD_ISOLATES_MAX;
    struct process_names *names = &isolates->names;
    struct isolate *items;

    if (names->capacity < isolates->now.count) {
        const struct process_info **by_name =
            reallocarray(names->items, capacity, sizeof(struct process_info *));

        if (!by_name)
            return -ISOSCOPE_NO_MEMORY;
        names->items = by_name;
        names->capacity = capacity;
    }
    if (capacity <= isolates->capacity)
        return 0;
    items = realloc(isolates->items, capacity * sizeof(*items));
    if (!items)
        return -ISOSCOPE_NO_MEMORY;
    isolates->items = items;
    isolates->capacity = capacity;
    return 0;
}

static int by_name(const void *left, const void *right)
{
    const struct process_info *const *a = left, *const *b = right;

    return strcmp((*a)->name, (*b)->name);
}

static void sort_names(struct isolates *isolates)
{
    struct process_names *names = &isolates->names;

    names->count = 0;
    for (size_t i = 0; i < isolates->now.count; i++)
        if (shows(isolates, &isolates->now.items[i]))
            names->items[names->count++] = &isolates->now.items[i];
    if (names->count > 1)
        qsort(names->items, names->count, sizeof(*names->items), by_name);
}

/* What the user started and still runs comes before all else. */
static int rank_of(const struct process_info *process)
{
    return 2 * process->live + process->started;
}

/* Of those that live and were not started the one that came first: it stays so. */
static bool goes_before(const struct process_info *one, const struct process_info *other)
{
    if (rank_of(one) != rank_of(other))
        return rank_of(one) > rank_of(other);
    return (one->started || !one->live) && one->samples > other->samples;
}

static const struct process_info *choose_main(const struct process_list *processes)
{
    const struct process_info *chosen = processes->count ? processes->items : NULL;

    for (size_t i = 1; i < processes->count; i++)
        if (goes_before(&processes->items[i], chosen))
            chosen = &processes->items[i];
    return chosen;
}

static void add_processes(struct isolates *isolates, bool live)
{
    const struct process_info *process = NULL;

    while ((process = isolates_next(isolates, process)))
        if (process != isolates->main && process->live == live)
            isolates->items[isolates->count++] = of_process(isolates, process);
}

static void fill_isolates(struct isolates *isolates)
{
    isolates->count = 0;
    if (isolates->main)
        isolates->items[isolates->count++] = of_process(isolates, isolates->main);
    add_processes(isolates, true);
    add_processes(isolates, false);
    for (size_t i = 0; i < isolates->threads.count; i++) {
        const struct thread_isolate *thread = &isolates->threads.items[i];
        const struct process_info *process = process_in(&isolates->now, thread->process_id);

        if (process && has_number(thread))
            isolates->items[isolates->count++] = of_thread(isolates, process, thread);
    }
}

static void look_at_processes(struct isolates *isolates)
{
    isolates->samples = isolates->others = 0;
    for (size_t i = 0; i < isolates->now.count; i++) {
        isolates->samples += isolates->now.items[i].samples;
        isolates->others += isolates->now.items[i].others;
    }
    isolates->main = choose_main(&isolates->now);
    sort_names(isolates);
    fill_isolates(isolates);
}

static void swap_names(struct isolates *isolates)
{
    struct process_names before = isolates->names;

    isolates->names = isolates->names_before;
    isolates->names_before = before;
}

/* The processes as they are now; those of before are kept aside. */
static int fetch_now(struct isolates *isolates, struct profile *profile)
{
    struct process_list before = isolates->now;
    int rc;

    isolates->now = isolates->before;
    isolates->before = before;
    swap_names(isolates);
    rc = fetch(&isolates->now, profile);
    if (rc == 0)
        rc = reserve_isolate(isolates);
    if (rc < 0) {
        /* What was known stays; nothing is told twice. */
        isolates->before = isolates->now;
        isolates->now = before;
        swap_names(isolates);
    }
    return rc;
}

int isolates_refresh(struct isolates *isolates, struct profile *profile, isolates_changed *changed,
                     void *context)
{
    uint64_t version = profile_version(profile);
    int rc;

    if (version == isolates->version)
        return 0;
    rc = fetch_now(isolates, profile);
    if (rc < 0)
        return rc;
    isolates->version = version;
    isolates->threads_before = isolates->threads;
    thread_isolates_update(&isolates->threads, profile, isolates->now.items, isolates->now.count);
    look_at_processes(isolates);
    tell(isolates, changed, context);
    return 0;
}

void isolates_free(struct isolates *isolates)
{
    free(isolates->now.items);
    free(isolates->before.items);
    free(isolates->names.items);
    free(isolates->names_before.items);
    free(isolates->items);
    isolate_labels_free(isolates->labels);
}

static bool can_be_asked_for(const struct isolates *isolates, const struct process_info *process)
{
    return process->live || process->samples > 0 || process->others > 0 ||
           process == isolates->main;
}

const struct process_info *isolates_main(const struct isolates *isolates)
{
    return isolates->main;
}

int64_t isolates_start_us(const struct isolates *isolates, int64_t now_us)
{
    for (size_t i = 0; i < isolates->now.count; i++)
        if (isolates->now.items[i].start_us < now_us)
            now_us = isolates->now.items[i].start_us;
    return now_us;
}

const struct process_info *isolates_group(const struct isolates *isolates, int64_t number)
{
    const struct process_info *process =
        number >= 0 ? process_in(&isolates->now, (uint64_t)number) : NULL;

    return process && can_be_asked_for(isolates, process) ? process : NULL;
}

const struct isolate *isolates_find(const struct isolates *isolates, int64_t number)
{
    for (size_t i = 0; i < isolates->count; i++)
        if (number >= 0 && isolates->items[i].number == (uint64_t)number)
            return &isolates->items[i];
    return NULL;
}

const struct process_info *isolates_next(const struct isolates *isolates,
                                         const struct process_info *process)
{
    const struct process_info *end = isolates->now.items + isolates->now.count;
    const struct process_info *next = process ? process + 1 : isolates->now.items;

    while (next < end && !can_be_asked_for(isolates, next))
        next++;
    return next < end ? next : NULL;
}

int isolates_set_name(struct isolates *isolates, const struct isolate *isolate, const char *name)
{
    if (isolate_labels_put(&isolates->labels, isolate->number, name) < 0)
        return -ISOSCOPE_NO_MEMORY;
    fill_isolates(isolates);
    return 0;
}
