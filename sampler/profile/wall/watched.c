#include "watched.h"

#include "../../capture/system/clock.h"
#include "../../capture/system/memory.h"
#include "../../capture/threads/thread_annotations.h"
#include "blocked.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

enum {
    TRIES = 3,           /* to read a sleeper's stack before it wakes */
    HOLDS_ROUNDS = 1000, /* so long a stack is believed to have reached the store */
    /* One that ended in unknown code: it may soon be known. If not, twice as long, and so on. */
    HOLDS_UNKNOWN_MIN_ROUNDS = 4,
    HOLDS_UNKNOWN_MAX_ROUNDS = 64,
    PAYS_ROUNDS = 200,   /* without a tick, before it pays where it sleeps */
    PUT_OFF_ROUNDS = 64, /* that wait for a stack that can be read */
    TEXT_BYTES = 256,
    /* Of the time that it has done the same a thread is left alone for a part, and so many rounds
     * at most: one that sleeps, one that runs. */
    REST_PARTS = 16,
    STILL_REST_ROUNDS = 16,
    MOVES_REST_ROUNDS = 4,
    /* A thread's whole life is told when it is met so early, or had begun when no round was held.
     */
    YOUNG_ROUNDS = 32,
};

/* What a look saw. */
enum sight { GONE, AWAKE, ASLEEP, STILL /* where it was told to sleep */, CLOSED /* no rights */ };

struct look {
    enum sight sight;
    bool has_clock;
    bool slept_before; /* at the look before, where it was told to */
    struct thread_clock clock;
    struct blocked blocked;
    int64_t now_ns;
};

void watched_forget(struct watched *thread)
{
    if (!thread->tid)
        return;
    task_kept_close(&thread->clock_file);
    task_kept_close(&thread->call_file);
    switches_close(&thread->switches);
    memset(thread, 0, sizeof(*thread));
}

void watched_look_again(struct watched *thread)
{
    thread->holds_us = thread->next_us = 0;
}

static uint16_t generation_of(const struct round *round, uint32_t slot)
{
    return (uint16_t)atomic_load_explicit(&round->writer->threads[slot].generation,
                                          memory_order_relaxed);
}

bool watched_meet(struct watched *thread, struct round *round, uint32_t slot)
{
    const struct feed_thread *feed = &round->writer->threads[slot];
    int32_t own_tid = atomic_load_explicit(&feed->tid, memory_order_relaxed);
    uint16_t generation = generation_of(round, slot);

    if (thread->tid && thread->own_tid == own_tid && thread->generation == generation)
        return true;
    watched_forget(thread);
    thread->tid = round->pid == round->writer->header->head.pid
                      ? own_tid
                      : task_number_here(round->pid, own_tid);
    if (thread->tid <= 0) {
        thread->tid = 0;
        return false;
    }
    thread->own_tid = own_tid;
    thread->generation = generation;
    switches_open(&thread->switches, thread->tid, round->no_switches);
    return true;
}

static bool is_gone(long error)
{
    return error == -ESRCH || error == -ENOENT;
}

/* False: the thread is gone. */
static bool read_clock(struct watched *thread, const struct round *round, struct look *look)
{
    char text[TEXT_BYTES];
    long got = task_kept_read(&thread->clock_file, round->pid, thread->tid, "schedstat", text,
                              sizeof(text));

    look->has_clock = got > 0 && thread_clock_parse(text, &look->clock);
    return !is_gone(got) && got != 0;
}

/* 'R', 'S', 'D' and so on; 0: it cannot be had. "TID (NAME) LETTER": any byte of a name may be ')'.
 */
static char letter_of(const struct watched *thread, const struct round *round)
{
    struct task_kept once = { 0 };
    char text[TEXT_BYTES], *end;
    long got = task_kept_read(&once, round->pid, thread->tid, "stat", text, 64);

    task_kept_close(&once);
    end = got > 0 ? strrchr(text, ')') : NULL;
    return end && end[1] ? end[2] : 0;
}

/* Without rights it is seen whether the thread sleeps, but not where. */
static enum sight see_from_afar(const struct watched *thread, const struct round *round)
{
    char letter = letter_of(thread, round);

    return !letter ? GONE : letter == 'R' ? AWAKE : CLOSED;
}

static enum sight see(struct watched *thread, const struct round *round, struct blocked *blocked)
{
    char text[TEXT_BYTES];
    long got =
        task_kept_read(&thread->call_file, round->pid, thread->tid, "syscall", text, sizeof(text));

    if (got == 0 || is_gone(got))
        return GONE;
    if (got < 0 || !blocked_parse(text, blocked))
        return see_from_afar(thread, round);
    if (!blocked->runs && !blocked->sp)
        return GONE; /* a zombie */
    return blocked->runs ? AWAKE : ASLEEP;
}

static enum feed_state state_of(const struct watched *thread, const struct round *round,
                                const struct blocked *blocked)
{
    if (blocked->number >= 0)
        return blocked_state(blocked->number);
    /* Outside system calls it waits for a page, unless somebody has stopped it. */
    return letter_of(thread, round) == 'D' ? FEED_STATE_IO : FEED_STATE_SLEEP;
}

/* The tag in force: the thread may wake and free it meanwhile. 0: none. */
static uint32_t tag_of(const struct round *round, uint32_t slot)
{
    uint64_t own = atomic_load_explicit(&round->writer->threads[slot].own, memory_order_acquire);
    char tag[FEED_NAME_MAX + 1];
    struct thread_annotations copy;
    uint64_t at = 0;
    long got;

    if (!own || !memory_read(round->pid, &copy, own, offsetof(struct thread_annotations, name)) ||
        !copy.depth || !memory_read(round->pid, &copy, own, sizeof(copy)))
        return 0;
    at = (uint64_t)thread_annotations_tag(&copy);
    got = at ? memory_read_some(round->pid, tag, at, FEED_NAME_MAX) : 0;
    tag[got > 0 ? got : 0] = 0;
    return feed_writer_name(round->writer, tag);
}

static uint16_t holds_for(struct watched *thread, bool unknown_code)
{
    uint16_t before = thread->unknown_holds;

    thread->unknown_holds = 0;
    if (!unknown_code)
        return HOLDS_ROUNDS;
    thread->unknown_holds = before < HOLDS_UNKNOWN_MIN_ROUNDS   ? HOLDS_UNKNOWN_MIN_ROUNDS
                            : before < HOLDS_UNKNOWN_MAX_ROUNDS ? (uint16_t)(2 * before)
                                                                : before;
    return thread->unknown_holds;
}

static void walk_sleeper(struct watched *thread, struct round *round, uint32_t slot,
                         const struct look *look, struct feed_sample *sample,
                         struct unwind_result *result)
{
    const struct feed_thread *feed = &round->writer->threads[slot];
    const struct stack_range stack = {
        .low = atomic_load_explicit(&feed->stack_low, memory_order_relaxed),
        .high = atomic_load_explicit(&feed->stack_high, memory_order_acquire),
        .root = atomic_load_explicit(&feed->stack_root, memory_order_relaxed),
    };
    const struct unwind_request request = {
        .map = round->map,
        .stack = &stack,
        .outer_frames = &thread->outer_frames,
        .frames_max = feed_writer_depth_max(round->writer),
    };
    struct unwind_sleeper *sleeper = &round->sleeper;

    sleeper->pid = round->pid;
    sleeper->named = far_code_name;
    sleeper->named_context = round->named;
    sleeper->pc = look->blocked.pc;
    sleeper->sp = look->blocked.sp;
    sleeper->fp_known = switches_fp(&thread->switches, sleeper->pc, sleeper->sp, &sleeper->fp);
    unwind_asleep(&request, sleeper, sample->frames, result);
}

/* FNV-1a, by words. */
static uint64_t hash_of(const uint64_t *frames, uint32_t depth)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (uint32_t i = 0; i < depth; i++)
        hash = (hash ^ frames[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static void note_place(struct watched *thread, const struct round *round, uint64_t place)
{
    if (place != thread->place)
        thread->place_us = round->now_us;
    thread->place = place;
}

enum taken { TAKEN, WOKE, FULL };

/* rounds_ago: when the round was due that the sample is for. */
static enum taken take_sleeper(struct watched *thread, struct round *round, uint32_t slot,
                               struct look *look, uint32_t rounds_ago)
{
    struct feed_status *status = &round->writer->header->status;
    int64_t first_us = round->now_us - (int64_t)rounds_ago * round->period_us;
    struct thread_clock before = look->clock;
    struct unwind_result result;
    struct feed_sample *sample;
    struct ring_writer ring;
    uint32_t tag;

    sample = round_reserve(round, &ring);
    if (!sample)
        return FULL;
    walk_sleeper(thread, round, slot, look, sample, &result);
    thread->state = (uint8_t)state_of(thread, round, &look->blocked);
    tag = tag_of(round, slot);
    /* Has it been where it was, all the time? */
    if (!read_clock(thread, round, look) || !thread_clock_stands(&before, &look->clock))
        return WOKE;
    *sample = (struct feed_sample){
        .head = { .size_bytes = (uint32_t)(sizeof(*sample) + result.depth * sizeof(uint64_t)),
                  .type = FEED_RECORD_SAMPLE_OF,
                  .slot = (uint16_t)slot },
        .timestamp_us = first_us + FEED_SPREAD_US(slot, round->period_us),
        .depth = (uint16_t)result.depth,
        .end = (uint8_t)result.end,
        .state = thread->state,
        .tag = tag,
        .generation = thread->generation,
        .kind = FEED_KIND_WALL,
    };
    note_place(thread, round, hash_of(sample->frames, result.depth));
    ring_commit(&ring);
    thread->told = thread->stands = true;
    thread->slept_at = look->clock;
    thread->holds_us =
        round->now_us + (int64_t)holds_for(thread, result.unknown_code) * round->period_us;
    round->unknown_code |= result.unknown_code;
    atomic_fetch_add_explicit(&status->ticks, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&status->delivered, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&status->ends[result.end], 1, memory_order_relaxed);
    return TAKEN;
}

static bool waits_long(const struct watched *thread, const struct round *round)
{
    return thread->shares.credit_ns[SHARE_SLEEP] >
           PUT_OFF_ROUNDS * INT64_C(1000) * round->period_us;
}

/* No stack is to be had now: one of the next looks will tell of these rounds, too. */
static void put_off(struct watched *thread, const struct round *round, uint32_t rounds)
{
    if (waits_long(thread, round))
        round_count_lost(round, round->map ? FEED_LOSS_AWAKE : FEED_LOSS_NO_TABLES, rounds);
    else
        shares_give_back(&thread->shares, SHARE_SLEEP, rounds, round->period_us * INT64_C(1000));
}

/* Of several rounds the first half is told where it slept before, the rest where it sleeps now: at
 * some time between the two it moved. */
static void tell_new_place(struct watched *thread, struct round *round, uint32_t slot,
                           struct look *look, uint32_t rounds)
{
    uint32_t before = look->slept_before ? rounds / 2 : 0;
    enum taken taken = WOKE;

    if (!round->map) {
        put_off(thread, round, rounds);
        return;
    }
    if (before) {
        round_again(round, slot, thread->generation, (enum feed_state)thread->state, before,
                    rounds);
        round_flush(round); /* what comes next says that it sleeps elsewhere */
        rounds -= before;
    }
    for (int tries = 0; tries < TRIES && taken == WOKE && look->sight == ASLEEP; tries++) {
        taken = take_sleeper(thread, round, slot, look, rounds);
        if (taken == WOKE)
            look->sight = see(thread, round, &look->blocked);
    }
    if (taken == TAKEN)
        round_again(round, slot, thread->generation, (enum feed_state)thread->state, rounds - 1,
                    rounds - 1);
    else if (taken == FULL)
        round_count_lost(round, FEED_LOSS_RING_FULL, rounds);
    else
        put_off(thread, round, rounds);
}

static void tell_sleep(struct watched *thread, struct round *round, uint32_t slot,
                       struct look *look, uint32_t rounds)
{
    if (!rounds)
        return;
    if (look->sight == CLOSED)
        round_count_lost(round, FEED_LOSS_NO_RIGHTS, rounds);
    else if (look->sight == ASLEEP)
        tell_new_place(thread, round, slot, look, rounds);
    else if (look->sight == STILL || look->slept_before ||
             (thread->told && waits_long(thread, round)))
        round_again(round, slot, thread->generation, (enum feed_state)thread->state, rounds,
                    rounds);
    else
        put_off(thread, round, rounds);
}

static void pay_in(const struct watched *thread, struct round *round, uint32_t slot,
                   enum feed_state state, uint32_t rounds)
{
    while (rounds) {
        uint32_t some = rounds < FEED_ROUNDS_MAX ? rounds : FEED_ROUNDS_MAX;

        round_again(round, slot, thread->generation, state, some, some);
        rounds -= some;
    }
}

/* No tick will answer: it is told where the thread slept last. */
void watched_pay(struct watched *thread, struct round *round, uint32_t slot)
{
    _Atomic uint32_t *owes = &round->writer->threads[slot].owed;
    uint32_t owed;

    if (!thread->told || thread->generation != generation_of(round, slot))
        return;
    owed = atomic_exchange_explicit(owes, 0, memory_order_relaxed);
    pay_in(thread, round, slot, FEED_STATE_RUNNING, owed % FEED_OWED_RUNNABLE);
    pay_in(thread, round, slot, FEED_STATE_RUNNABLE, owed / FEED_OWED_RUNNABLE);
}

static bool owes_long(const struct watched *thread, const struct round *round, uint32_t slot)
{
    return atomic_load_explicit(&round->writer->threads[slot].owed, memory_order_relaxed) &&
           round->now_us >= thread->owes_us + (int64_t)PAYS_ROUNDS * round->period_us;
}

/* False: the thread is gone. */
static bool look_at(struct watched *thread, const struct round *round, struct look *out)
{
    *out = (struct look){ .now_ns = (int64_t)clock_ns(CLOCK_MONOTONIC),
                          .slept_before = thread->stands };
    if (!read_clock(thread, round, out))
        return false;
    thread->stands = thread->stands && out->has_clock && round->now_us < thread->holds_us &&
                     thread_clock_stands(&thread->slept_at, &out->clock);
    out->sight = thread->stands ? STILL : see(thread, round, &out->blocked);
    if (!out->has_clock) /* just now, or the kernel keeps none: then what is seen decides */
        out->clock = thread->shares.clock;
    return out->sight != GONE;
}

static int64_t tick_ns(void)
{
    static int64_t tick;
    struct timespec step;

    if (!tick)
        tick = clock_getres(CLOCK_MONOTONIC_COARSE, &step) < 0 ? 10000000 : step.tv_nsec;
    return tick;
}

/* The time since the look before, or since a young thread began. */
static void account(struct watched *thread, const struct round *round, uint32_t slot,
                    const struct look *look)
{
    int64_t period_ns = round->period_us * INT64_C(1000), now_us = look->now_ns / 1000;
    int64_t start_us = round->writer->threads[slot].start_us;
    bool possible = start_us > 0 && start_us <= now_us;
    bool young = possible && round->before_us &&
                 (now_us - start_us < (int64_t)YOUNG_ROUNDS * round->period_us ||
                  start_us >= round->before_us);
    int64_t since_ns = young ? (now_us - start_us) * 1000 : 0;
    bool awake = look->sight == AWAKE;

    if (thread->began)
        shares_look(&thread->shares, &look->clock, look->now_ns, tick_ns(), awake);
    else
        shares_begin(&thread->shares, &look->clock, look->now_ns, since_ns, awake);
    if (!thread->began && !young) /* its clocks say nothing of this round */
        shares_give_back(&thread->shares, awake ? SHARE_RUN : SHARE_SLEEP, 1, period_ns);
    thread->began = true;
}

static bool has_not_run(const struct watched *thread, const struct look *look)
{
    return thread->told && look->has_clock && look->clock.slices == thread->slept_at.slices;
}

/* A power of two, and at a multiple of it: then threads are looked at together, and the service
 * sleeps between. */
static void plan_next(struct watched *thread, const struct round *round, enum sight sight)
{
    bool still = thread->stands;
    uint32_t most = sight == STILL ? STILL_REST_ROUNDS : MOVES_REST_ROUNDS, rounds = 1;
    int64_t same_us, step_us;

    if (still != thread->was_still || sight == ASLEEP)
        thread->same_us = round->now_us;
    thread->was_still = still;
    same_us = round->now_us - (sight == ASLEEP ? thread->place_us : thread->same_us);
    while (rounds < most && same_us >= (int64_t)2 * rounds * REST_PARTS * round->period_us)
        rounds *= 2;
    step_us = (int64_t)rounds * round->period_us;
    thread->next_us = rounds > 1 ? (round->now_us / step_us + 1) * step_us : round->now_us;
}

void watched_look(struct watched *thread, struct round *round, uint32_t slot)
{
    int64_t period_ns = round->period_us * INT64_C(1000);
    uint32_t counts[SHARE_COUNT];
    struct look look;

    if (!look_at(thread, round, &look))
        return;
    account(thread, round, slot, &look);
    shares_take(&thread->shares, period_ns, FEED_ROUNDS_MAX, look.sight == AWAKE, counts);
    if (counts[SHARE_RUN] + counts[SHARE_WAIT] + counts[SHARE_SLEEP] == FEED_ROUNDS_MAX)
        round_count_lost(round, FEED_LOSS_LATE, shares_drop(&thread->shares, period_ns));
    if (has_not_run(thread, &look)) { /* it was woken, and waits where it slept */
        round_again(round, slot, thread->generation, FEED_STATE_RUNNABLE, counts[SHARE_WAIT],
                    counts[SHARE_WAIT]);
        counts[SHARE_WAIT] = 0;
    }
    if (counts[SHARE_RUN] || counts[SHARE_WAIT])
        thread->owes_us = round->now_us;
    round_owe(round, slot, counts[SHARE_RUN], counts[SHARE_WAIT]);
    tell_sleep(thread, round, slot, &look, counts[SHARE_SLEEP]);
    if (look.sight != AWAKE && owes_long(thread, round, slot))
        watched_pay(thread, round, slot);
    plan_next(thread, round, look.sight);
}
