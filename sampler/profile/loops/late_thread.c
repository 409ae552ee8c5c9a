#include "late_thread.h"

#include "../../include/isoscope/isoscope.h"
#include "../wall/rounds.h"
#include "../wall/subject.h"
#include "late_sample.h"
#include "task_stat.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    STAT_BYTES = 512,
    STATUS_BYTES = 4096,
    TRACER_NS = 50 * 1000 * 1000, /* between two looks for a debugger */
    HOLDER_NS = 50 * 1000 * 1000, /* and at the holder of the lock */
};

static int64_t tick_ns(void)
{
    struct timespec step;

    return clock_getres(CLOCK_MONOTONIC_COARSE, &step) < 0 ? 10000000 : step.tv_nsec;
}

static struct late_program program_of(const struct round *round)
{
    return (struct late_program){ round->pid, round->pid == round->writer->header->head.pid };
}

/* ---- reading ---- */

static bool read_stat(struct late_thread *late, const struct round *round, struct task_stat *out)
{
    char text[STAT_BYTES];

    return task_kept_read(&late->stat_file, round->pid, late->sleeper.tid, "stat", text,
                          sizeof(text)) > 0 &&
           task_stat_parse(text, out);
}

static void follow_tracer(struct late_thread *late, const struct round *round, int64_t now_ns)
{
    char text[STATUS_BYTES];

    if (late->tracer_ns && now_ns < late->tracer_ns + TRACER_NS)
        return;
    late->tracer_ns = now_ns;
    late->traced = task_kept_read(&late->status_file, round->pid, late->sleeper.tid, "status", text,
                                  sizeof(text)) > 0 &&
                   task_tracer_parse(text);
}

/* ---- its stack ---- */

/* It sleeps where it is seen to; what it did meanwhile is the next look's. */
static void tell_stack(struct late_thread *late, struct round *round)
{
    enum late_walk walk = LATE_WALKED;

    if (!late->slot || !round->map)
        return;
    if (!late->stack && !(late->stack = late_sample_new()))
        return;
    if (!late->stack_holds)
        walk = late_sample_walk(&late->sleeper, round, late->slot, &late->blocked, &late->slept_at,
                                late->stack);
    late->stack_holds = walk == LATE_WALKED;
    if (walk == LATE_ELSEWHERE)
        late->asleep = false;
    else
        late_sample_tell(round, late->stack);
}

/* ---- the holder of its lock ---- */

static void tell_holder(struct late_thread *late, struct round *round, int32_t tid, int64_t now_ns)
{
    uint32_t slot;

    if (late->holder.own_tid == tid && now_ns < late->holder_ns + HOLDER_NS)
        return;
    late->holder_ns = now_ns;
    slot = late_sample_slot(round, tid);
    if (slot && slot != late->slot && sleeper_meet(&late->holder, round, slot) != SLEEPER_NOT_MET)
        late_sample_once(&late->holder, round, slot);
}

/* ---- one look ---- */

static struct late_wait *add_wait(struct late_thread *late, const struct round *round,
                                  uint64_t slept_ns)
{
    const struct late_program program = program_of(round);
    struct late_wait *wait = late_waits_add(&late->waits, &program, &late->blocked, slept_ns);

    late->looks.waits_ns[wait->waits] += slept_ns;
    return wait;
}

/* It has slept since the look before: where it slept then, if that was seen. */
static enum late_sight look_awake(struct late_thread *late, struct round *round, uint64_t slept_ns)
{
    if (late->asleep && slept_ns)
        add_wait(late, round, slept_ns);
    late->asleep = false;
    return LATE_RUNS;
}

static enum late_sight look_asleep(struct late_thread *late, struct round *round,
                                   const struct thread_clock *clock, uint64_t slept_ns,
                                   int64_t now_ns)
{
    struct late_wait *wait;

    if (!late->asleep || !late->clock.has_clock || !thread_clock_stands(&late->slept_at, clock)) {
        struct blocked blocked;

        switch (sleeper_see(&late->sleeper, round, &blocked)) {
        case SLEEPER_GONE:
            return LATE_GONE;
        case SLEEPER_ASLEEP:
            break;
        case SLEEPER_CLOSED:
            late->asleep = false;
            return LATE_SLEEPS;
        default:
            return look_awake(late, round, slept_ns);
        }
        late->blocked = blocked;
        late->slept_at = *clock;
        late->stack_holds = false;
        late->asleep = true;
    }
    wait = add_wait(late, round, slept_ns);
    tell_stack(late, round);
    if (wait->waits == CALL_WAITS_LOCK && wait->holder_tid)
        tell_holder(late, round, wait->holder_tid, now_ns);
    return LATE_SLEEPS;
}

static enum late_sight look_by(struct late_thread *late, struct round *round,
                               const struct thread_clock *clock, char letter, int64_t now_ns)
{
    bool awake = letter == 'R';
    uint64_t slept_ns = late_clock_look(&late->clock, clock, now_ns, tick_ns(), awake);

    switch (letter) {
    case 'Z':
    case 'X':
        return LATE_GONE;
    case 't':
    case 'T':
        late->asleep = false;
        late->looks.stopped_ns += slept_ns;
        return letter == 't' ? LATE_TRACED : LATE_STOPPED;
    default:
        return awake ? look_awake(late, round, slept_ns)
                     : look_asleep(late, round, clock, slept_ns, now_ns);
    }
}

static void note_evidence(struct late_thread *late)
{
    struct stall_evidence *evidence = &late->evidence;
    struct stall_looks *looks = &late->looks;

    evidence->running_ns = looks->running_ns = late->clock.running_ns;
    evidence->runnable_ns = looks->runnable_ns = late->clock.runnable_ns;
    evidence->sleeping_ns = looks->sleeping_ns = late->clock.sleeping_ns;
    evidence->faults = looks->faults;
    late_waits_tell(&late->waits, evidence);
}

static bool is_there(const struct late_thread *late, const struct round *round)
{
    return !late->slot || late->sleeper.generation == sleeper_generation(round, late->slot);
}

static enum late_sight look(struct late_thread *late, struct round *round, int64_t now_ns)
{
    struct thread_clock clock = { 0 };
    enum late_sight sight;
    struct task_stat stat;
    bool has_clock;

    if (!is_there(late, round) || !sleeper_clock(&late->sleeper, round, &clock, &has_clock) ||
        !read_stat(late, round, &stat))
        return LATE_GONE;
    late->looks.faults = stat.major_faults - late->faults_before;
    sight = look_by(late, round, &clock, stat.letter, now_ns);
    note_evidence(late);
    follow_tracer(late, round, now_ns);
    return sight != LATE_GONE && late->traced ? LATE_TRACED : sight;
}

enum late_sight late_thread_look(struct late_thread *late, int64_t now_ns)
{
    struct round *round = rounds_begin_look(late->subject, now_ns / 1000);
    enum late_sight sight;

    if (!round)
        return LATE_GONE;
    sight = look(late, round, now_ns);
    rounds_end_look(late->subject);
    return sight;
}

/* ---- begin and end ---- */

static bool begin(struct late_thread *late, const struct round *round, int32_t tid, int64_t now_ns)
{
    struct thread_clock clock;
    struct task_stat stat;
    bool has_clock;

    if (late->slot) {
        if (sleeper_meet(&late->sleeper, round, late->slot) == SLEEPER_NOT_MET ||
            late->sleeper.own_tid != tid)
            return false;
    } else if (!sleeper_meet_tid(&late->sleeper, round, tid)) {
        return false;
    }
    if (!sleeper_clock(&late->sleeper, round, &clock, &has_clock) || !read_stat(late, round, &stat))
        return false;
    late->faults_before = stat.major_faults;
    late_clock_begin(&late->clock, has_clock ? &clock : NULL, now_ns);
    return true;
}

int late_thread_begin(struct late_thread *late, struct subject *subject, uint32_t slot, int32_t tid,
                      int64_t since_ns)
{
    struct round *round = rounds_begin_look(subject, since_ns / 1000);
    bool began;

    *late = (struct late_thread){ .subject = subject, .slot = slot, .evidence.descriptor = -1 };
    if (!round)
        return -ISOSCOPE_NOT_FOUND;
    if (!slot)
        late->slot = late_sample_slot(round, tid);
    began = begin(late, round, tid, since_ns);
    rounds_end_look(subject);
    if (began)
        return 0;
    late_thread_end(late);
    return -ISOSCOPE_NOT_FOUND;
}

const struct stall_evidence *late_thread_evidence(const struct late_thread *late)
{
    return &late->evidence;
}

enum stall_cause late_thread_cause(const struct late_thread *late, int64_t duration_ns,
                                   uint64_t host_late_ns)
{
    return stall_cause_of(&late->looks, duration_ns, host_late_ns);
}

void late_thread_end(struct late_thread *late)
{
    task_kept_close(&late->stat_file);
    task_kept_close(&late->status_file);
    sleeper_forget(&late->sleeper);
    sleeper_forget(&late->holder);
    free(late->stack);
    memset(late, 0, sizeof(*late));
}
