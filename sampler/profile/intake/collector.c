#include "collector.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/thread.h"
#include "../loops/watcher.h"
#include "drain.h"
#include "process_events.h"
#include "sampling_events.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum {
    ROUND_US = 10000,
    IDLE_ROUND_US = 50000,
    CLOCK_SLACK_US = 1000000, /* a sample later than now by more than this is a lie */
    EXIT_WAIT_US = 1000000,   /* an end is shown without how it came then */
};

struct collector {
    struct collector_options options;
    pthread_mutex_t round; /* held during a round; guards the next two */
    struct drain *drain;
    uint64_t losses; /* of all processes, when the last round ended */

    pthread_mutex_t lock; /* guards the rest; taken after round, never before */
    pthread_cond_t wake;  /* the thread has something to do */
    pthread_cond_t done;  /* a round has ended */
    pthread_t thread;
    bool started, stopping, woken;
    bool expected; /* programs came that no round has met: the next one is not far */
    uint64_t rounds_asked, rounds_done; /* of collector_sync */
    _Atomic bool follows;
    bool came;       /* the round's lock: programs did, and nobody was told of them */
    bool untold;     /* the round's lock: samples came that nobody was told of */
    int64_t told_us; /* the round's lock */
};

static int64_t clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int collector_new(struct collector **out, const struct collector_options *options)
{
    struct collector *collector = calloc(1, sizeof(*collector));
    const struct drain_options drain = { .stores = options->stores,
                                         .events = options->events,
                                         .streams = options->streams,
                                         .registry = options->registry,
                                         .symbolizer = options->symbolizer };
    pthread_condattr_t monotonic;

    if (!collector || drain_new(&collector->drain, &drain) < 0) {
        free(collector);
        return -ISOSCOPE_NO_MEMORY;
    }
    collector->options = *options;
    pthread_mutex_init(&collector->round, NULL);
    pthread_mutex_init(&collector->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&collector->wake, &monotonic);
    pthread_cond_init(&collector->done, NULL);
    pthread_condattr_destroy(&monotonic);
    *out = collector;
    return 0;
}

void collector_stop(struct collector *collector)
{
    bool started;

    pthread_mutex_lock(&collector->lock);
    started = collector->started;
    collector->started = false;
    collector->stopping = true;
    pthread_cond_signal(&collector->wake);
    pthread_mutex_unlock(&collector->lock);
    if (started)
        pthread_join(collector->thread, NULL);
}

void collector_free(struct collector *collector)
{
    if (!collector)
        return;
    collector_stop(collector);
    drain_free(collector->drain);
    pthread_cond_destroy(&collector->wake);
    pthread_cond_destroy(&collector->done);
    pthread_mutex_destroy(&collector->lock);
    pthread_mutex_destroy(&collector->round);
    free(collector);
}

static uint64_t sum_of_losses(const struct process *process)
{
    uint64_t sum = process->corrupt;

    for (int loss = 0; loss < FEED_LOSS_COUNT; loss++)
        sum += process->status.lost[loss];
    return sum;
}

/* Its end may be seen before it was waited for, and then the two are shown together. A program that
 * became another one by exec has not exited. */
static bool is_over(struct process *process, struct process_hints hints, int64_t now_us)
{
    if (!process->ended_us && process_has_ended(process, hints.replaced, now_us))
        process->ended_us = now_us;
    return process->ended_us && (!hints.exit_awaited || process->proof.gone ||
                                 now_us - process->ended_us >= EXIT_WAIT_US);
}

static void find_runtimes(struct collector *collector, struct process *process,
                          struct feed_settings settings, int64_t now_us)
{
    if (collector->options.finder)
        process_find_runtimes(process, collector->options.finder, collector->options.registry,
                              &settings, now_us);
}

/* Returns whether it has ended. That is asked first: then what is in the feed is all there will
 * ever be. */
static bool drain_and_update(struct collector *collector, struct process *process, int64_t now_us)
{
    struct processes *processes = collector->options.processes;
    const struct feed_settings settings = processes_settings_of(processes, process);
    struct process_hints hints = processes_hints(processes, process);
    struct process_events *events =
        process_events_of(process, collector->options.events, collector->options.streams);
    bool ended = is_over(process, hints, now_us);

    if (!ended) {
        feed_reader_alive(process->reader, now_us);
        process_follow_clock(process, &settings, now_us);
        process_follow_names(process, &settings, now_us);
        if (events)
            process_events_want(events, process);
    }
    if (collector->options.tables)
        process_tell_tables(process, collector->options.tables);
    if (!ended)
        find_runtimes(collector, process, settings, now_us);
    process_watch_loops(process, collector->options.watcher, ended, now_us);
    if (ended)
        rounds_finish(process->wall);
    if (events)
        sampling_events_attach(process);
    drain_process(collector->drain, process, ended ? INT64_MAX : now_us, now_us + CLOCK_SLACK_US);
    if (events)
        sampling_events_tell(process, &settings, ended, now_us);
    processes_update(processes, process, ended);
    return ended;
}

struct round_result {
    bool changed; /* somebody wants to know */
    bool moved;   /* there were samples */
};

/* With the round's lock. */
static struct round_result run_round(struct collector *collector, int64_t now_us)
{
    struct round_result result = { false, false };
    struct process *process;
    uint64_t losses = 0;

    for (size_t i = 0; (process = processes_at(collector->options.processes, i)); i++) {
        if (process->reader) {
            result.changed |= drain_and_update(collector, process, now_us);
            process->losses = sum_of_losses(process);
        }
        losses += process->losses;
    }
    result.moved = drain_flush(collector->drain) > 0;
    result.changed |= losses != collector->losses || collector->came;
    collector->losses = losses;
    collector->came = false;
    return result;
}

/* With the round's lock. */
static bool is_due(struct collector *collector, bool moved, int64_t now_us)
{
    collector->untold |= moved;
    if (!collector->untold || now_us - collector->told_us < FOLLOW_US ||
        !atomic_load_explicit(&collector->follows, memory_order_relaxed))
        return false;
    collector->untold = false;
    collector->told_us = now_us;
    return true;
}

static void tell(struct collector *collector)
{
    if (collector->options.changed)
        collector->options.changed(collector->options.context);
}

/* Returns whether there were samples. */
static bool round_and_tell(struct collector *collector, int64_t now_us)
{
    struct round_result result;

    pthread_mutex_lock(&collector->round);
    result = run_round(collector, now_us);
    result.changed |= is_due(collector, result.moved, now_us);
    pthread_mutex_unlock(&collector->round);
    if (result.changed)
        tell(collector);
    return result.moved;
}

static struct timespec time_of(int64_t us)
{
    return (struct timespec){ us / 1000000, us % 1000000 * 1000 };
}

/* With the lock. Ends early when there is something to do. */
static void rest(struct collector *collector, int64_t rest_us)
{
    int64_t now_us = clock_us();
    struct timespec until = time_of(now_us + rest_us), soon = time_of(now_us + ROUND_US);
    bool forever = !processes_any_live(collector->options.processes);
    int timed_out = 0;

    while (!timed_out && !collector->stopping && !collector->woken)
        if (collector->expected)
            timed_out = pthread_cond_timedwait(&collector->wake, &collector->lock, &soon);
        else if (forever)
            pthread_cond_wait(&collector->wake, &collector->lock);
        else
            timed_out = pthread_cond_timedwait(&collector->wake, &collector->lock, &until);
    collector->woken = collector->expected = false;
}

static void *run(void *argument)
{
    struct collector *collector = argument;
    int64_t rest_us = ROUND_US;

    pthread_setname_np(pthread_self(), "iso-collector");
    pthread_mutex_lock(&collector->lock);
    while (!collector->stopping) {
        uint64_t asked = collector->rounds_asked;

        pthread_mutex_unlock(&collector->lock);
        rest_us = round_and_tell(collector, clock_us()) ? ROUND_US : rest_us + ROUND_US;
        if (rest_us > IDLE_ROUND_US)
            rest_us = IDLE_ROUND_US;
        pthread_mutex_lock(&collector->lock);
        collector->rounds_done = asked;
        pthread_cond_broadcast(&collector->done);
        rest(collector, rest_us);
    }
    pthread_mutex_unlock(&collector->lock);
    return NULL;
}

int collector_start(struct collector *collector)
{
    int error;

    pthread_mutex_lock(&collector->lock);
    error = thread_start(&collector->thread, run, collector);
    collector->started = !error;
    pthread_mutex_unlock(&collector->lock);
    return error;
}

/* With the round's lock. A program that became another one by exec: drained before that one
 * enters, for it is known only then whether it has left samples. */
static void drain_replaced(struct collector *collector, int32_t pid)
{
    struct process *process;

    for (size_t i = 0; (process = processes_at(collector->options.processes, i)); i++)
        if (process->pid == pid && process->reader) {
            drain_and_update(collector, process, clock_us());
            process->losses = sum_of_losses(process);
        }
    collector->untold |= drain_flush(collector->drain) > 0;
}

/* Programs that start come in heaps. They are looked at, and told of, together: who is woken for
 * each takes a processor from those that start. */
static void expect_round(struct collector *collector)
{
    pthread_mutex_lock(&collector->lock);
    if (!collector->expected)
        pthread_cond_signal(&collector->wake);
    collector->expected = true;
    pthread_mutex_unlock(&collector->lock);
}

int collector_attach(struct collector *collector, int memfd, const struct profile_peer *peer,
                     uint64_t *process_id)
{
    struct processes *processes = collector->options.processes;
    struct process *process;
    int error = process_new(&process, memfd, peer);

    if (error)
        return error;
    pthread_mutex_lock(&collector->round);
    if (collector->options.rounds)
        process->wall = rounds_enter(collector->options.rounds, process->reader, process->pid);
    if (processes_suspect(processes, peer->pid))
        drain_replaced(collector, peer->pid);
    error = processes_enter(processes, process);
    if (!error && collector->options.watcher)
        process->loops = watcher_enter(collector->options.watcher, process->reader, process->id,
                                       process->pid, process->wall);
    if (!error && process_id)
        *process_id = process->id;
    /* Now, not in the next round: a script's first moments are of interest. */
    if (!error)
        find_runtimes(collector, process, processes_settings_of(processes, process), clock_us());
    collector->came = true;
    pthread_mutex_unlock(&collector->round);
    /* Now they know what is wanted of it. */
    if (collector->options.rounds && processes_settings(processes).mode == FEED_MODE_WALL)
        rounds_look(collector->options.rounds);
    expect_round(collector);
    return error;
}

void collector_follow(struct collector *collector, bool follows)
{
    atomic_store_explicit(&collector->follows, follows, memory_order_relaxed);
}

void collector_wake(struct collector *collector)
{
    pthread_mutex_lock(&collector->lock);
    collector->woken = true;
    pthread_cond_signal(&collector->wake);
    pthread_mutex_unlock(&collector->lock);
}

void collector_exited(struct collector *collector, const struct profile_exit *end)
{
    processes_exited(collector->options.processes, end);
    collector_wake(collector);
    tell(collector);
}

void collector_put_event(struct collector *collector, uint64_t process_id, int32_t tid,
                         const char *thread_name, const struct event *event)
{
    struct process *process;

    pthread_mutex_lock(&collector->round);
    for (size_t i = 0; (process = processes_at(collector->options.processes, i)); i++)
        if (process->id == process_id)
            process_events_put(process, collector->options.events, collector->options.streams, tid,
                               thread_name, event);
    pthread_mutex_unlock(&collector->round);
}

void collector_round(struct collector *collector, int64_t now_us)
{
    round_and_tell(collector, now_us);
}

/* With the lock. */
static void wait_for_round(struct collector *collector)
{
    uint64_t ticket = ++collector->rounds_asked;

    collector->woken = true;
    pthread_cond_signal(&collector->wake);
    while (collector->rounds_done < ticket && !collector->stopping)
        pthread_cond_wait(&collector->done, &collector->lock);
}

void collector_sync(struct collector *collector)
{
    bool started;

    pthread_mutex_lock(&collector->lock);
    started = collector->started;
    if (started)
        wait_for_round(collector);
    pthread_mutex_unlock(&collector->lock);
    if (!started)
        collector_round(collector, clock_us());
}
