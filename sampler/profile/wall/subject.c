#include "subject.h"

#include "../../capture/system/clock.h"
#include "../../include/isoscope/isoscope.h"
#include "../outside/same_program.h"
#include "sleeper_scan.h"
#include "watched.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

int subject_new(struct subject **out, const struct feed_writer *writer, int32_t pid,
                struct mapped_tables *tables)
{
    struct subject *subject = calloc(1, sizeof(*subject));
    const struct jit_process process = { pid, writer->header->head.pid,
                                         writer->header->head.start_us };

    if (!subject)
        return -ISOSCOPE_NO_MEMORY;
    program_code_new(&subject->code, tables, &process);
    subject->writer = *writer;
    subject->head = writer->header->head;
    subject->pid = pid > 0 ? pid : 0;
    subject->named = (struct far_code){ pid, writer->header->named_code, &subject->writer };
    *out = subject;
    return 0;
}

void subject_free(struct subject *subject)
{
    if (!subject)
        return;
    subject_forget(subject);
    by_slot_free(&subject->watched, sizeof(struct watched));
    thread_choice_free(&subject->choice);
    sleeper_scan_free(subject->scan);
    program_code_free(&subject->code);
    free(subject);
}

uint32_t subject_period_us(const struct subject *subject)
{
    const struct feed_control *control = &subject->writer.header->control;
    uint32_t period_us = atomic_load_explicit(&control->period_us, memory_order_relaxed);

    if (!atomic_load_explicit(&control->enabled, memory_order_relaxed) ||
        atomic_load_explicit(&control->mode, memory_order_relaxed) != FEED_MODE_WALL)
        return 0;
    if (period_us < FEED_WALL_PERIOD_MIN_US)
        return FEED_WALL_PERIOD_MIN_US;
    return period_us < FEED_PERIOD_MAX_US ? period_us : FEED_PERIOD_MAX_US;
}

static struct watched *watched_of(const struct subject *subject, uint32_t slot)
{
    return by_slot_at(&subject->watched, slot, sizeof(struct watched));
}

/* It is not to answer for rounds that nobody asks for any more. */
static void forget_thread(struct subject *subject, uint32_t slot)
{
    if (!watched_of(subject, slot)->sleeper.tid)
        return;
    watched_forget(watched_of(subject, slot));
    atomic_store_explicit(&subject->writer.threads[slot].owed, 0, memory_order_relaxed);
}

void subject_forget(struct subject *subject)
{
    uint32_t used = subject->begun ? round_slots(&subject->writer) : 0;

    for (uint32_t slot = 1; slot < used && watched_of(subject, slot); slot++)
        forget_thread(subject, slot);
    subject->begun = false;
    subject->held_us = 0;
    subject->round_us = 0;
}

/* More is known of the code. */
static void look_again(const struct subject *subject, uint32_t used)
{
    for (uint32_t slot = 1; slot < used && watched_of(subject, slot); slot++)
        watched_look_again(watched_of(subject, slot));
}

static bool is_wanted(struct subject *subject, uint32_t slot)
{
    const struct feed_thread *thread = &subject->writer.threads[slot];

    return atomic_load_explicit(&thread->state, memory_order_acquire) == FEED_THREAD_LIVE &&
           thread_chosen(&subject->choice, &subject->writer, slot,
                         atomic_load_explicit(&thread->tid, memory_order_relaxed));
}

static bool has_ended(const struct subject *subject, uint32_t slot)
{
    return atomic_load_explicit(&subject->writer.threads[slot].state, memory_order_acquire) ==
           FEED_THREAD_ENDED;
}

static void look_at(struct subject *subject, struct round *round, uint32_t slot)
{
    struct watched *thread = watched_of(subject, slot);

    if (!is_wanted(subject, slot)) {
        if (has_ended(subject, slot))
            watched_pay(thread, round, slot);
        forget_thread(subject, slot);
        return;
    }
    if (!subject->pid)
        round_count_lost(round, FEED_LOSS_NO_RIGHTS, 1);
    if (!subject->pid || !watched_meet(thread, round, slot))
        return;
    if (round->now_us >= thread->next_us)
        watched_look(thread, round, slot);
    if (thread->next_us < round->next_us)
        round->next_us = thread->next_us;
}

/* How the program is read. */
static void begin_look(struct subject *subject, struct round *round, int64_t now_us)
{
    round->writer = &subject->writer;
    round->pid = subject->pid;
    round->now_us = now_us;
    round->period_us = subject_period_us(subject);
    round->map = program_code_map(&subject->code);
    round->named = &subject->named;
    round->no_switches = &subject->no_switches;
    round->scan = sleeper_scan_of(&subject->scan, &subject->writer);
    round->unknown_code = false;
    round->next_us = INT64_MAX;
    round->ran_ns = 0;
    round->looked = round->moved = false;
    round->batch.count = 0;
}

static void begin_round(struct subject *subject, struct round *round, int64_t now_us)
{
    begin_look(subject, round, now_us);
    round->before_us = subject->held_us;
    subject->held_us = now_us;
}

/* By exec it may have become another one, whose stacks are none of ours. */
static bool is_another(const struct subject *subject)
{
    return subject->pid && same_program_at(subject->pid, &subject->head) == PROGRAM_ANOTHER;
}

/* The CPU clock of all its threads together, as the kernel encodes it. It tells of a program that
 * does nothing by one call what its threads' clocks tell by one each. 0: it is not worth it, or gone. */
static uint64_t process_ran_ns(const struct subject *subject)
{
    clockid_t clock = (clockid_t)(~(unsigned)subject->pid << 3 | 2);
    struct timespec ran;

    return subject->still && subject->pid && clock_gettime(clock, &ran) == 0 ? clock_to_ns(&ran)
                                                                             : 0;
}

/* Who has not run has not become another one. */
static bool stayed_what_it_is(struct subject *subject, uint64_t ran_ns)
{
    bool ran = !ran_ns || ran_ns != subject->ran_ns;

    subject->ran_ns = ran_ns;
    return !ran || !is_another(subject);
}

/* A thread that runs makes the clock of all no news. */
static void note_stillness(struct subject *subject, const struct round *round)
{
    if (round->looked)
        subject->still = !round->moved;
}

/* Another runtime is known, or other frames are wanted. */
static bool scans_otherwise(struct subject *subject)
{
    bool scans = sleeper_scan_of(&subject->scan, &subject->writer) != NULL;
    uint32_t runtimes = runtimes_used(&subject->writer);
    bool changed = scans != subject->scanned || (scans && runtimes != subject->runtimes);

    subject->scanned = scans;
    subject->runtimes = runtimes;
    return changed;
}

static void follow_code(struct subject *subject, int64_t now_us)
{
    const struct feed_status *status = &subject->writer.header->status;
    uint32_t unloads = atomic_load_explicit(&status->unloads, memory_order_acquire);
    bool otherwise = scans_otherwise(subject);

    if (program_code_follow(&subject->code, unloads, now_us) || otherwise)
        look_again(subject, round_slots(&subject->writer));
}

bool subject_begin_look(struct subject *subject, struct round *round, int64_t now_us)
{
    if (!subject->pid || atomic_load_explicit(&subject->paused, memory_order_relaxed) ||
        is_another(subject))
        return false;
    follow_code(subject, now_us);
    begin_look(subject, round, now_us);
    if (!program_code_is_ready(&subject->code, now_us))
        round->map = NULL; /* stacks would end at once */
    return true;
}

void subject_end_look(struct subject *subject, struct round *round)
{
    if (round->unknown_code)
        program_code_note_unknown(&subject->code);
}

void subject_finish(struct subject *subject, struct round *round, int64_t now_us)
{
    uint32_t used = subject->begun ? round_slots(&subject->writer) : 0;

    begin_round(subject, round, now_us);
    for (uint32_t slot = 1; slot < used && watched_of(subject, slot); slot++)
        watched_pay(watched_of(subject, slot), round, slot);
    round_flush(round);
    subject_forget(subject);
}

int64_t subject_round(struct subject *subject, struct round *round, int64_t now_us)
{
    uint32_t used = round_slots(&subject->writer);
    uint64_t ran_ns = process_ran_ns(subject);

    if (!by_slot_reach(&subject->watched, used ? used - 1 : 0, sizeof(struct watched)))
        return now_us;
    if (!stayed_what_it_is(subject, ran_ns))
        return now_us + subject_period_us(subject);
    if (subject->pid)
        follow_code(subject, now_us);
    if (subject->pid && !program_code_is_ready(&subject->code, now_us))
        return now_us;
    subject->begun = true;
    thread_choice_follow(&subject->choice, &subject->writer);
    begin_round(subject, round, now_us);
    round->ran_ns = ran_ns;
    if (!round->period_us)
        return now_us;
    for (uint32_t slot = 1; slot < used; slot++)
        look_at(subject, round, slot);
    round_flush(round);
    note_stillness(subject, round);
    subject_end_look(subject, round);
    return round->next_us;
}
