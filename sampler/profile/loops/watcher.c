#include "watcher.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/punctual.h"
#include "cpu_highs.h"
#include "loop_limits.h"
#include "loop_subject.h"

#include <stdlib.h>
#include <time.h>

/* Timers fire a little late on any machine. Whoever sleeps for so long beyond was suspended, not late. */
static const int64_t late_free_ns = 1000000, late_most_ns = 10000000000;
static const int64_t slept_ns = 500000000; /* that the machine slept */

struct watcher {
    struct punctual thread;
    struct watcher_options options;
    struct loop_reports reports;
    struct cpu_highs highs;

    pthread_mutex_t lock; /* held during a turn; guards the rest */
    struct loop_subject *first;
    struct known_loops known;
    struct stall_settings settings;
    int64_t planned_ns; /* the next turn; 0, INT64_MAX: none was */
    int64_t ahead_ns;   /* so much, at most, was the clock that goes on while the machine sleeps */
    bool turned;
};

static void no_late(void *context, const struct late_dispatch *late)
{
    (void)context;
    (void)late;
}

static void no_reached(void *context, const struct late_dispatch *late, enum stall_level level)
{
    (void)context;
    (void)late;
    (void)level;
}

static void no_cpu_high(void *context, const struct cpu_high *high)
{
    (void)context;
    (void)high;
}

static const struct loop_reports nobody = { NULL,    no_late, no_reached, no_late,
                                            no_late, no_late, no_cpu_high };

static int64_t kernel_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t monotonic_ns(void *context)
{
    (void)context;
    return kernel_ns(CLOCK_MONOTONIC);
}

static int64_t boottime_ns(void *context)
{
    (void)context;
    return kernel_ns(CLOCK_BOOTTIME);
}

int watcher_new(struct watcher **out, const struct watcher_options *options)
{
    struct watcher *watcher = calloc(1, sizeof(*watcher));

    if (!watcher || known_loops_new(&watcher->known) < 0) {
        free(watcher);
        return -ISOSCOPE_NO_MEMORY;
    }
    watcher->options = *options;
    watcher->reports = options->reports ? *options->reports : nobody;
    if (!watcher->options.clock_ns)
        watcher->options.clock_ns = monotonic_ns;
    if (!watcher->options.boot_clock_ns)
        watcher->options.boot_clock_ns = boottime_ns;
    pthread_mutex_init(&watcher->lock, NULL);
    cpu_highs_begin(&watcher->highs);
    watcher->settings = stall_settings_clamped(&watcher->settings);
    *out = watcher;
    return 0;
}

void watcher_stop(struct watcher *watcher)
{
    punctual_stop(&watcher->thread);
}

void watcher_free(struct watcher *watcher)
{
    if (!watcher)
        return;
    watcher_stop(watcher);
    known_loops_free(&watcher->known);
    cpu_highs_end(&watcher->highs);
    pthread_mutex_destroy(&watcher->lock);
    free(watcher);
}

static int64_t clock_of(const struct watcher *watcher)
{
    return watcher->options.clock_ns(watcher->options.clock_context);
}

static void cpu_is_high(struct watcher *watcher, uint64_t process_id, int32_t tid,
                        const struct cpu_use *use)
{
    cpu_highs_add(&watcher->highs, process_id, tid, use);
}

/* With the lock. */
static struct loop_turn turn_at(struct watcher *watcher, int64_t now_ns)
{
    return (struct loop_turn){ .known = &watcher->known,
                               .settings = &watcher->settings,
                               .reports = &watcher->reports,
                               .clock_ns = watcher->options.clock_ns,
                               .clock_context = watcher->options.clock_context,
                               .now_ns = now_ns,
                               .cpu_high = cpu_is_high };
}

/* Whether the machine has slept since the turn before. The clocks are read one after the other, and we may stand still
 * between: what counts is certain. */
static bool has_slept(struct watcher *watcher, int64_t now_ns)
{
    int64_t boot_ns = watcher->options.boot_clock_ns(watcher->options.clock_context);
    int64_t least_ns = boot_ns - clock_of(watcher);
    bool slept = watcher->turned && least_ns - watcher->ahead_ns > slept_ns;

    watcher->ahead_ns = boot_ns - now_ns;
    watcher->turned = true;
    return slept;
}

/* What our own lateness says of the machine. */
static void judge_lateness(struct watcher *watcher, struct loop_turn *turn)
{
    bool planned = watcher->planned_ns && watcher->planned_ns != INT64_MAX;
    int64_t late_ns = planned ? turn->now_ns - watcher->planned_ns : 0;

    turn->late_ns = late_ns > late_free_ns ? late_ns : 0;
    turn->suspended = has_slept(watcher, turn->now_ns) || late_ns > late_most_ns;
}

static void tell_cpu_highs(struct watcher *watcher)
{
    struct cpu_high high;

    while (cpu_highs_next(&watcher->highs, &high))
        watcher->reports.cpu_high(watcher->reports.context, &high);
}

int64_t watcher_turn(struct watcher *watcher)
{
    struct loop_turn turn;
    int64_t next_ns = INT64_MAX;

    pthread_mutex_lock(&watcher->lock);
    turn = turn_at(watcher, clock_of(watcher));
    judge_lateness(watcher, &turn);
    for (struct loop_subject *subject = watcher->first; subject; subject = subject->next) {
        int64_t wanted_ns = loop_subject_look(subject, &turn);

        next_ns = wanted_ns < next_ns ? wanted_ns : next_ns;
    }
    tell_cpu_highs(watcher);
    watcher->planned_ns = next_ns;
    pthread_mutex_unlock(&watcher->lock);
    return next_ns;
}

static int64_t turn(void *context)
{
    return watcher_turn(context);
}

int watcher_start(struct watcher *watcher)
{
    return punctual_start(&watcher->thread, "iso-loops", turn, watcher);
}

struct loop_subject *watcher_enter(struct watcher *watcher, struct feed_reader *reader,
                                   uint64_t process_id, int32_t pid, struct subject *wall)
{
    struct loop_subject *subject;
    bool rests;

    if (loop_subject_new(&subject, reader, process_id, pid, wall) < 0)
        return NULL;
    subject->watcher = watcher;
    pthread_mutex_lock(&watcher->lock);
    feed_reader_watch_loops(reader, watcher->settings.watch);
    rests = loop_subject_begin(subject, clock_of(watcher));
    subject->next = watcher->first;
    watcher->first = subject;
    pthread_mutex_unlock(&watcher->lock);
    if (!rests)
        punctual_wake(&watcher->thread);
    return subject;
}

void watcher_leave(struct loop_subject *subject)
{
    struct watcher *watcher = subject ? subject->watcher : NULL;
    struct loop_subject **link;
    struct loop_turn turn;

    if (!subject)
        return;
    pthread_mutex_lock(&watcher->lock);
    for (link = &watcher->first; *link != subject;)
        link = &(*link)->next;
    *link = subject->next;
    turn = turn_at(watcher, clock_of(watcher));
    loop_subject_end(subject, &turn);
    pthread_mutex_unlock(&watcher->lock);
    loop_subject_free(subject);
}

void watcher_pause(struct loop_subject *subject)
{
    if (subject)
        atomic_store(&subject->paused, true);
}

void watcher_wake(struct watcher *watcher)
{
    bool called = false;

    pthread_mutex_lock(&watcher->lock);
    for (struct loop_subject *subject = watcher->first; subject && !called; subject = subject->next)
        called = loop_subject_calls(subject);
    pthread_mutex_unlock(&watcher->lock);
    if (called)
        punctual_wake(&watcher->thread);
}

/* Nobody waits for a look: the next round is soon. */
static bool wants_ping(struct loop_subject *subject)
{
    struct watcher *watcher = subject->watcher;
    struct loop_turn turn;
    bool wants;

    if (pthread_mutex_trylock(&watcher->lock))
        return false;
    turn = turn_at(watcher, clock_of(watcher));
    wants = loop_subject_wants_ping(subject, &turn);
    pthread_mutex_unlock(&watcher->lock);
    return wants;
}

void watcher_round(struct loop_subject *subject)
{
    if (!subject)
        return;
    if (loop_subject_calls(subject) || wants_ping(subject))
        punctual_wake(&subject->watcher->thread);
    if (subject->unwatched && !atomic_load(&subject->paused))
        unwatched_look(subject->unwatched, clock_of(subject->watcher));
}

struct stall_settings watcher_settings(struct watcher *watcher)
{
    struct stall_settings settings;

    pthread_mutex_lock(&watcher->lock);
    settings = watcher->settings;
    pthread_mutex_unlock(&watcher->lock);
    return settings;
}

void watcher_apply(struct watcher *watcher, const struct stall_settings *settings)
{
    struct loop_turn turn;

    pthread_mutex_lock(&watcher->lock);
    watcher->settings = stall_settings_clamped(settings);
    turn = turn_at(watcher, clock_of(watcher));
    for (struct loop_subject *subject = watcher->first; subject; subject = subject->next) {
        feed_reader_watch_loops(subject->reader, watcher->settings.watch);
        loop_subject_refresh(subject, &turn);
    }
    pthread_mutex_unlock(&watcher->lock);
    punctual_wake(&watcher->thread);
}

size_t watcher_loops(struct watcher *watcher, uint64_t process_id, struct loop_info *out,
                     size_t capacity)
{
    size_t count;

    pthread_mutex_lock(&watcher->lock);
    count = known_loops_tell(&watcher->known, process_id, out, capacity);
    pthread_mutex_unlock(&watcher->lock);
    return count;
}

size_t watcher_unwatched(struct watcher *watcher, uint64_t process_id, struct unwatched_thread *out,
                         size_t capacity)
{
    size_t count = 0;

    pthread_mutex_lock(&watcher->lock);
    for (struct loop_subject *subject = watcher->first; subject; subject = subject->next)
        if (subject->unwatched && (!process_id || subject->process_id == process_id))
            count += unwatched_list(subject->unwatched, count < capacity ? out + count : NULL,
                                    count < capacity ? capacity - count : 0);
    pthread_mutex_unlock(&watcher->lock);
    return count;
}

size_t watcher_cpu_highs(struct watcher *watcher, uint64_t since, struct cpu_high *out,
                         size_t capacity)
{
    return cpu_highs_list(&watcher->highs, since, out, capacity);
}

void watcher_clear(struct watcher *watcher, uint64_t process_id)
{
    pthread_mutex_lock(&watcher->lock);
    known_loops_clear(&watcher->known, process_id);
    pthread_mutex_unlock(&watcher->lock);
}

void watcher_look_at_all(struct watcher *watcher, uint64_t process_id)
{
    pthread_mutex_lock(&watcher->lock);
    for (struct loop_subject *subject = watcher->first; subject; subject = subject->next)
        subject->all_threads |= subject->process_id == process_id;
    pthread_mutex_unlock(&watcher->lock);
    punctual_wake(&watcher->thread);
}

void watcher_cpu(struct watcher *watcher, struct cpu_rule *rule, uint64_t process_id,
                 uint64_t cpu_ns, int64_t now_ns)
{
    struct cpu_use use;

    if (!cpu_rule_feed(rule, cpu_ns, now_ns, &use))
        return;
    cpu_highs_add(&watcher->highs, process_id, 0, &use);
    punctual_wake(&watcher->thread);
}
