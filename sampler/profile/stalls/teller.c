#include "teller.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/thread.h"
#include "../control.h"
#include "compose.h"
#include "../loops/watcher.h"
#include "../parts.h"
#include "stall_slice.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static const int64_t ms_ns = 1000000;
static const int64_t period_ns = 1000 * ms_ns;
/* How long it is waited for names before it is told, and how often it is looked whether they are there. */
static const int64_t begin_waits_ns = 300 * ms_ns, end_waits_ns = 2000 * ms_ns;
static const int64_t names_wait_ns = 60000 * ms_ns;
static const int64_t names_look_ns = 20 * ms_ns, late_names_look_ns = 250 * ms_ns;
/* Of a long stall there is much to count: so much of a processor is it worth. */
enum { COST_RATIO = 10 };

struct teller {
    struct teller_options options;
    pthread_t thread;
    bool started;
    _Atomic bool stopping;
};

static int64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int teller_new(struct teller **out, const struct teller_options *options)
{
    struct teller *teller = calloc(1, sizeof(*teller));

    if (!teller)
        return -ISOSCOPE_NO_MEMORY;
    teller->options = *options;
    *out = teller;
    return 0;
}

void teller_free(struct teller *teller)
{
    if (!teller)
        return;
    teller_stop(teller);
    free(teller);
}

static void tell_readers(struct teller *teller)
{
    if (teller->options.changed)
        teller->options.changed(teller->options.context);
}

static void put_off(struct teller *teller, const struct stall_task *task,
                    const struct stall_notes *notes, int64_t due_ns)
{
    stall_log_put_off(teller->options.log, task->id, notes, due_ns);
}

/* False: no memory; it is tried again. */
static bool publish(struct teller *teller, const struct stall_task *task,
                    const struct composition *made, const struct stall_notes *notes, int64_t now_ns,
                    int64_t due_ns)
{
    if (stall_log_publish(teller->options.log, task->id, &made->stall, notes, due_ns) < 0) {
        put_off(teller, task, &task->notes, now_ns + period_ns);
        return false;
    }
    tell_readers(teller);
    return true;
}

/* Names are read as long as somebody asks: it is asked before it is known to be a stall. */
static void warm(struct teller *teller, const struct stall_task *task, int64_t now_ns)
{
    struct stall_notes notes = task->notes;
    struct composition made;

    notes.warmed = true;
    if (!compose(&made, teller->options.profile, task, now_ns))
        composition_free(&made);
    put_off(teller, task, &notes, INT64_MAX);
}

/* False: names are waited for a little longer. */
static bool is_ready(struct stall_notes *notes, const struct composition *made, int64_t now_ns,
                     int64_t most_ns)
{
    notes->names_due = !made->complete;
    notes->trying = !made->complete && now_ns - notes->tried_ns < most_ns;
    return !notes->trying;
}

/* A stack that was never seen: what all threads do meanwhile goes into the profile. */
static void look_at_all(struct teller *teller, const struct stall_task *task,
                        const struct stall_notes *notes)
{
    struct watcher *watcher = teller->options.profile->watcher;

    if (watcher && task->stall.ongoing && notes->equals == 1)
        watcher_look_at_all(watcher, task->stall.process_id);
}

static void begin(struct teller *teller, const struct stall_task *task,
                  const struct composition *made, int64_t now_ns, int64_t again_ns)
{
    struct stall_notes notes = task->notes;

    if (!is_ready(&notes, made, now_ns, begin_waits_ns)) {
        put_off(teller, task, &notes, now_ns + names_look_ns);
        return;
    }
    stall_log_judge(teller->options.log, task, made->key, now_ns, &notes);
    look_at_all(teller, task, &notes);
    notes.level_told = task->stall.level;
    notes.stack_told = made->newest;
    annealing_begin(&notes.annealing, now_ns);
    publish(teller, task, made, &notes, now_ns, again_ns);
}

static void check(struct teller *teller, const struct stall_task *task,
                  const struct composition *made, int64_t now_ns, int64_t again_ns)
{
    struct stall_notes notes = task->notes;
    bool same = made->newest == notes.stack_told && task->stall.level == notes.level_told;
    bool told = annealing_again(&notes.annealing, now_ns, period_ns, same);
    bool named = notes.names_due && made->complete;

    notes.names_due = !made->complete;
    if (told) {
        notes.updates++;
        notes.stack_told = made->newest;
        notes.level_told = task->stall.level;
    }
    if (told || named)
        publish(teller, task, made, &notes, now_ns, again_ns);
    else
        put_off(teller, task, &notes, again_ns);
}

static void end(struct teller *teller, const struct stall_task *task,
                const struct composition *made, int64_t now_ns)
{
    struct stall_notes notes = task->notes;

    if (!is_ready(&notes, made, now_ns, end_waits_ns)) {
        put_off(teller, task, &notes, now_ns + names_look_ns);
        return;
    }
    stall_log_judge(teller->options.log, task, made->key, now_ns, &notes);
    notes.end_told = true;
    if (publish(teller, task, made, &notes, now_ns,
                made->complete ? INT64_MAX : now_ns + late_names_look_ns))
        stall_slice_put(teller->options.profile, &made->stall);
}

static void complete(struct teller *teller, const struct stall_task *task,
                     const struct composition *made, int64_t now_ns)
{
    struct stall_notes notes = task->notes;

    if (is_ready(&notes, made, now_ns, names_wait_ns))
        publish(teller, task, made, &notes, now_ns, INT64_MAX);
    else
        put_off(teller, task, &notes, now_ns + late_names_look_ns);
}

/* What the program wrote before a step is first tried must be in. */
static void prepare(struct teller *teller, struct stall_task *task, int64_t now_ns)
{
    struct stall_notes *notes = &task->notes;

    if (notes->trying && notes->tried == task->step)
        return;
    notes->trying = false;
    notes->tried = task->step;
    notes->tried_ns = now_ns;
    if (task->step != STALL_STEP_NAMES)
        profile_sync(teller->options.profile);
}

static void tell(struct teller *teller, struct stall_task *task, int64_t now_ns)
{
    int64_t before_ns = clock_ns(), cost_ns, again_ns;
    struct composition made;

    prepare(teller, task, now_ns);
    if (task->step == STALL_STEP_WARM) {
        warm(teller, task, now_ns);
        return;
    }
    if (compose(&made, teller->options.profile, task, now_ns) < 0) {
        put_off(teller, task, &task->notes, now_ns + period_ns);
        return;
    }
    cost_ns = (clock_ns() - before_ns) * COST_RATIO;
    again_ns = now_ns + (cost_ns > period_ns ? cost_ns : period_ns);
    if (task->step == STALL_STEP_BEGIN)
        begin(teller, task, &made, now_ns, again_ns);
    else if (task->step == STALL_STEP_CHECK)
        check(teller, task, &made, now_ns, again_ns);
    else if (task->step == STALL_STEP_END)
        end(teller, task, &made, now_ns);
    else
        complete(teller, task, &made, now_ns);
    composition_free(&made);
}

int64_t teller_round(struct teller *teller, int64_t now_ns)
{
    struct stall_task task;
    int64_t next_ns;

    while (!atomic_load(&teller->stopping) &&
           stall_log_task(teller->options.log, now_ns, &task, &next_ns))
        tell(teller, &task, now_ns);
    return next_ns;
}

static void *run(void *argument)
{
    struct teller *teller = argument;

    pthread_setname_np(pthread_self(), "iso-stalls");
    while (!atomic_load(&teller->stopping)) {
        int64_t next_ns = teller_round(teller, clock_ns());

        if (!atomic_load(&teller->stopping) && stall_log_wait(teller->options.log, next_ns))
            tell_readers(teller);
    }
    return NULL;
}

int teller_start(struct teller *teller)
{
    int error = thread_start(&teller->thread, run, teller);

    teller->started = !error;
    return error;
}

void teller_stop(struct teller *teller)
{
    atomic_store(&teller->stopping, true);
    stall_log_wake(teller->options.log);
    if (teller->started)
        pthread_join(teller->thread, NULL);
    teller->started = false;
}
