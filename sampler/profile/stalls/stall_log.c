#include "stall_log_state.h"

#include "../../include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

int stall_log_new(struct stall_log **out, const struct stall_log_options *options)
{
    struct stall_log *log = calloc(1, sizeof(*log));
    pthread_condattr_t monotonic;

    if (!log)
        return -ISOSCOPE_NO_MEMORY;
    log->count_max = options->count_max ? options->count_max : STALL_LOG_COUNT_MAX;
    log->bytes_max = options->bytes_max ? options->bytes_max : STALL_LOG_BYTES_MAX;
    pthread_mutex_init(&log->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&log->news, &monotonic);
    pthread_condattr_destroy(&monotonic);
    *out = log;
    return 0;
}

void stall_log_free(struct stall_log *log)
{
    if (!log)
        return;
    for (struct open_stall *open = log->open, *next; open; open = next) {
        next = open->next;
        free(open);
    }
    for (struct listed *listed = log->first, *next; listed; listed = next) {
        next = listed->next;
        kept_stall_release(listed->kept);
        free(listed);
    }
    pthread_cond_destroy(&log->news);
    pthread_mutex_destroy(&log->lock);
    free(log);
}

static void unlink_listed(struct stall_log *log, struct listed *listed)
{
    *(listed->previous ? &listed->previous->next : &log->first) = listed->next;
    *(listed->next ? &listed->next->previous : &log->last) = listed->previous;
    log->count--;
    log->bytes -= listed->kept->bytes;
}

static void link_listed(struct stall_log *log, struct listed *listed)
{
    listed->previous = log->last;
    listed->next = NULL;
    *(log->last ? &log->last->next : &log->first) = listed;
    log->last = listed;
    log->count++;
    log->bytes += listed->kept->bytes;
}

void stall_log_remove(struct stall_log *log, struct listed *listed)
{
    unlink_listed(log, listed);
    if (listed->open)
        listed->open->listed = NULL;
    kept_stall_release(listed->kept);
    free(listed);
}

/* Those that go on stay, and the one that came last. */
static void evict(struct stall_log *log)
{
    struct listed *next;

    for (struct listed *listed = log->first; listed && listed != log->last; listed = next) {
        next = listed->next;
        if (log->count <= log->count_max && log->bytes <= log->bytes_max)
            return;
        if (listed->open && listed->kept->stall.ongoing)
            continue;
        stall_log_remove(log, listed);
        log->counts.evicted++;
    }
}

static void show(struct stall_log *log, struct listed *listed, struct kept_stall *kept)
{
    if (listed->kept) {
        unlink_listed(log, listed);
        kept_stall_release(listed->kept);
    }
    listed->kept = kept;
    link_listed(log, listed);
    evict(log);
}

/* With its end it is known for good whether it is told. */
static void count_verdict(struct stall_log *log, struct open_stall *open,
                          enum limits_verdict verdict)
{
    uint64_t *counts[] = { [LIMITS_TOLD] = &log->counts.told,
                           [LIMITS_ANNEALED] = &log->counts.annealed,
                           [LIMITS_STACK_FULL] = &log->counts.over_stack,
                           [LIMITS_LOOP_FULL] = &log->counts.over_loop };

    if (!open->counted)
        ++*counts[verdict];
    open->counted = true;
}

/* With the lock. Takes over what is kept. */
static int publish(struct stall_log *log, struct open_stall *open, const struct stall_notes *notes,
                   struct kept_stall *kept)
{
    if (!open->listed) {
        open->listed = calloc(1, sizeof(*open->listed));
        if (!open->listed)
            return -ISOSCOPE_NO_MEMORY;
        open->listed->open = open;
    }
    if (!open->stall.number) {
        open->stall.number = ++log->number;
        log->counts.seen++;
    }
    if (!kept->stall.ongoing)
        count_verdict(log, open, notes->verdict);
    kept->stall.number = open->stall.number;
    kept->stall.change = ++log->change;
    kept->stall.told = notes->verdict == LIMITS_TOLD;
    kept->stall.equals = notes->equals;
    kept->stall.updates = notes->updates;
    show(log, open->listed, kept);
    return 0;
}

static void note(struct stall_log *log, struct open_stall *open, const struct stall_notes *notes,
                 int64_t due_ns)
{
    open->notes = *notes;
    open->due_ns = due_ns;
    if (notes->end_told && due_ns == INT64_MAX)
        stall_log_close(log, open);
}

void stall_log_put_off(struct stall_log *log, uint64_t id, const struct stall_notes *notes,
                       int64_t due_ns)
{
    struct open_stall *open;

    pthread_mutex_lock(&log->lock);
    open = stall_log_open(log, id);
    if (open)
        note(log, open, notes, due_ns);
    pthread_mutex_unlock(&log->lock);
}

int stall_log_publish(struct stall_log *log, uint64_t id, const struct stall *stall,
                      const struct stall_notes *notes, int64_t due_ns)
{
    struct kept_stall *kept = kept_stall_new(stall);
    struct open_stall *open;
    int error = kept ? 0 : -ISOSCOPE_NO_MEMORY;

    pthread_mutex_lock(&log->lock);
    open = stall_log_open(log, id);
    if (open && !error)
        error = publish(log, open, notes, kept);
    if (open && !error)
        note(log, open, notes, due_ns);
    pthread_mutex_unlock(&log->lock);
    if (error || !open)
        kept_stall_release(kept);
    return error;
}

/* With the lock. A new one where none has the number; NULL: no memory. */
static struct listed *listed_of(struct stall_log *log, uint64_t number)
{
    struct listed *listed = number <= log->number ? log->last : NULL;

    while (listed && listed->kept->stall.number != number)
        listed = listed->previous;
    if (listed)
        return listed;
    log->counts.seen++;
    return calloc(1, sizeof(*listed));
}

int stall_log_restore(struct stall_log *log, struct kept_stall *kept)
{
    struct listed *listed;

    pthread_mutex_lock(&log->lock);
    listed = listed_of(log, kept->stall.number);
    if (listed) {
        if (kept->stall.number > log->number)
            log->number = kept->stall.number;
        kept->stall.change = ++log->change;
        show(log, listed, kept);
    }
    pthread_mutex_unlock(&log->lock);
    if (listed)
        return 0;
    kept_stall_release(kept);
    return -ISOSCOPE_NO_MEMORY;
}

void stall_log_judge(struct stall_log *log, const struct stall_task *task, uint64_t key,
                     int64_t now_ns, struct stall_notes *notes)
{
    bool told = notes->judged && notes->verdict == LIMITS_TOLD;
    uint32_t loop = task->stall.loop;
    struct limits_answer answer;

    pthread_mutex_lock(&log->lock);
    if (task->stall.ongoing) {
        answer = limits_foresee(&log->limits, loop, key, now_ns);
    } else {
        answer = limits_count(&log->limits, loop, key, now_ns, told);
        if (notes->judged && notes->key != key)
            limits_count_begun(&log->limits, loop, notes->key, now_ns, told);
    }
    pthread_mutex_unlock(&log->lock);
    notes->judged = true;
    notes->key = key;
    notes->verdict = answer.verdict;
    notes->equals = answer.equals;
}

uint64_t stall_log_change(struct stall_log *log)
{
    uint64_t change;

    pthread_mutex_lock(&log->lock);
    change = log->change;
    pthread_mutex_unlock(&log->lock);
    return change;
}

uint64_t stall_log_last(struct stall_log *log)
{
    uint64_t number;

    pthread_mutex_lock(&log->lock);
    number = log->number;
    pthread_mutex_unlock(&log->lock);
    return number;
}

struct stall_counts stall_log_counts(struct stall_log *log)
{
    struct stall_counts counts;

    pthread_mutex_lock(&log->lock);
    counts = log->counts;
    pthread_mutex_unlock(&log->lock);
    return counts;
}

static bool is_of(const struct stall *stall, uint64_t process_id)
{
    return !process_id || stall->process_id == process_id;
}

void stall_log_clear(struct stall_log *log, uint64_t process_id)
{
    struct listed *next;

    pthread_mutex_lock(&log->lock);
    for (struct listed *listed = log->first; listed; listed = next) {
        next = listed->next;
        if (!is_of(&listed->kept->stall, process_id))
            continue;
        limits_forget(&log->limits, listed->kept->stall.loop);
        if (!listed->kept->stall.ongoing)
            stall_log_remove(log, listed);
    }
    pthread_mutex_unlock(&log->lock);
}
