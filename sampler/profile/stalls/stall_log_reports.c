#include "stall_log_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct open_stall *stall_log_open(struct stall_log *log, uint64_t id)
{
    struct open_stall *open = log->open;

    while (open && open->id != id)
        open = open->next;
    return open;
}

void stall_log_close(struct stall_log *log, struct open_stall *open)
{
    *(open->previous ? &open->previous->next : &log->open) = open->next;
    if (open->next)
        open->next->previous = open->previous;
    if (open->listed)
        open->listed->open = NULL;
    log->open_count--;
    free(open);
}

static struct open_stall *find(struct stall_log *log, const struct late_dispatch *late)
{
    struct open_stall *open = log->open;

    while (open && (open->stall.loop != late->loop || open->mark != late->mark ||
                    open->stall.process_id != late->process_id || open->ended))
        open = open->next;
    return open;
}

static void take_report(struct open_stall *open, const struct late_dispatch *late)
{
    struct stall *stall = &open->stall;

    stall->start_ns = late->start_ns;
    stall->duration_ns = late->duration_ns;
    stall->cause = late->cause;
    if (late->evidence)
        stall->evidence = *late->evidence;
}

/* NULL: there are too many, or no memory. */
static struct open_stall *add(struct stall_log *log, const struct late_dispatch *late)
{
    struct open_stall *open =
        log->open_count < STALL_LOG_OPEN_MAX ? calloc(1, sizeof(*open)) : NULL;

    if (!open) {
        log->counts.lost++;
        return NULL;
    }
    open->id = ++log->id;
    open->mark = late->mark;
    snprintf(open->name, sizeof(open->name), "%s", late->name ? late->name : "");
    snprintf(open->thread_name, sizeof(open->thread_name), "%s",
             late->thread_name ? late->thread_name : "");
    open->stall = (struct stall){ .process_id = late->process_id,
                                  .loop = late->loop,
                                  .tid = late->tid,
                                  .limit_ns = late->limit_ns,
                                  .ongoing = true,
                                  .evidence.descriptor = -1 };
    open->due_ns = INT64_MAX;
    open->next = log->open;
    if (log->open)
        log->open->previous = open;
    log->open = open;
    log->open_count++;
    return open;
}

static void tell_teller(struct stall_log *log, struct open_stall *open)
{
    open->news = true;
    pthread_cond_signal(&log->news);
}

static void armed(void *context, const struct late_dispatch *late)
{
    struct stall_log *log = context;
    struct open_stall *open;

    pthread_mutex_lock(&log->lock);
    open = add(log, late);
    if (open) {
        take_report(open, late);
        tell_teller(log, open);
    }
    pthread_mutex_unlock(&log->lock);
}

static void reached(void *context, const struct late_dispatch *late, enum stall_level level)
{
    struct stall_log *log = context;
    struct open_stall *open;

    pthread_mutex_lock(&log->lock);
    open = find(log, late);
    if (open && level >= STALL_LEVEL_STALL) {
        take_report(open, late);
        open->reached = true;
        if (level > open->stall.level)
            open->stall.level = level;
        tell_teller(log, open);
    }
    pthread_mutex_unlock(&log->lock);
}

/* The teller looks when it is due. */
static void looked(void *context, const struct late_dispatch *late)
{
    struct stall_log *log = context;
    struct open_stall *open;

    pthread_mutex_lock(&log->lock);
    open = find(log, late);
    if (open)
        take_report(open, late);
    pthread_mutex_unlock(&log->lock);
}

static void end(struct stall_log *log, struct open_stall *open, const struct late_dispatch *late)
{
    take_report(open, late);
    open->ended = true;
    open->stall.ongoing = false;
    tell_teller(log, open);
}

static void ended(void *context, const struct late_dispatch *late)
{
    struct stall_log *log = context;
    struct open_stall *open;

    pthread_mutex_lock(&log->lock);
    open = find(log, late);
    if (open && open->reached)
        end(log, open, late);
    else if (open)
        stall_log_close(log, open);
    pthread_mutex_unlock(&log->lock);
}

static void dismissed(void *context, const struct late_dispatch *late)
{
    struct stall_log *log = context;
    struct open_stall *open;

    pthread_mutex_lock(&log->lock);
    open = find(log, late);
    if (open && open->listed)
        end(log, open, late);
    else if (open)
        stall_log_close(log, open);
    pthread_mutex_unlock(&log->lock);
}

/* The watcher has it in a list of its own; readers hear of it from the teller. */
static void cpu_high(void *context, const struct cpu_high *high)
{
    (void)high;
    stall_log_wake(context);
}

struct loop_reports stall_log_reports(struct stall_log *log)
{
    return (struct loop_reports){ log, armed, reached, looked, ended, dismissed, cpu_high };
}

static enum stall_step step_of(const struct open_stall *open)
{
    if (open->ended)
        return open->notes.end_told ? STALL_STEP_NAMES : STALL_STEP_END;
    if (!open->reached)
        return STALL_STEP_WARM;
    return open->listed ? STALL_STEP_CHECK : STALL_STEP_BEGIN;
}

static void fill(struct stall_task *out, struct open_stall *open)
{
    enum stall_step step = step_of(open);

    out->id = open->id;
    out->step = step;
    out->notes = open->notes;
    out->stall = open->stall;
    memcpy(out->name, open->name, sizeof(out->name));
    memcpy(out->thread_name, open->thread_name, sizeof(out->thread_name));
    out->stall.name = out->name;
    out->stall.thread_name = out->thread_name;
    open->news = false;
    open->due_ns = INT64_MAX;
}

bool stall_log_task(struct stall_log *log, int64_t now_ns, struct stall_task *out, int64_t *next_ns)
{
    bool found = false;

    *next_ns = INT64_MAX;
    pthread_mutex_lock(&log->lock);
    for (struct open_stall *open = log->open; open && !found; open = open->next) {
        if (open->news || open->due_ns <= now_ns) {
            fill(out, open);
            found = true;
        } else if (open->due_ns < *next_ns) {
            *next_ns = open->due_ns;
        }
    }
    pthread_mutex_unlock(&log->lock);
    return found;
}

static struct timespec time_of(int64_t ns)
{
    return (struct timespec){ ns / 1000000000, ns % 1000000000 };
}

/* With the lock. */
static bool has_news(const struct stall_log *log)
{
    const struct open_stall *open = log->open;

    while (open && !open->news)
        open = open->next;
    return open || log->woken;
}

bool stall_log_wait(struct stall_log *log, int64_t until_ns)
{
    struct timespec until = time_of(until_ns);
    int timed_out = 0;
    bool woken;

    pthread_mutex_lock(&log->lock);
    while (!timed_out && !has_news(log))
        if (until_ns == INT64_MAX)
            pthread_cond_wait(&log->news, &log->lock);
        else
            timed_out = pthread_cond_timedwait(&log->news, &log->lock, &until);
    woken = log->woken;
    log->woken = false;
    pthread_mutex_unlock(&log->lock);
    return woken;
}

void stall_log_wake(struct stall_log *log)
{
    pthread_mutex_lock(&log->lock);
    log->woken = true;
    pthread_cond_signal(&log->news);
    pthread_mutex_unlock(&log->lock);
}
