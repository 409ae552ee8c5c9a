#include "watched.h"

#include "../../capture/system/clock.h"

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
    /* Of the time that it has done the same a thread is left alone for a part, and so many rounds
     * at most: one that sleeps, one that runs. */
    REST_PARTS = 16,
    STILL_REST_ROUNDS = 16,
    MOVES_REST_ROUNDS = 4,
    /* A thread's whole life is told when it is met so early, or had begun when no round was held.
     */
    YOUNG_ROUNDS = 32,
};

struct look {
    enum sleeper_sight sight;
    bool has_clock;
    bool slept_before; /* at the look before, where it was told to */
    struct thread_clock clock;
    struct blocked blocked;
    int64_t now_ns;
};

void watched_forget(struct watched *thread)
{
    sleeper_forget(&thread->sleeper);
    memset(thread, 0, sizeof(*thread));
}

bool watched_meet(struct watched *thread, struct round *round, uint32_t slot)
{
    enum sleeper_met met = sleeper_meet(&thread->sleeper, round, slot);

    if (met != SLEEPER_MET) { /* nothing is known of it */
        struct sleeper sleeper = thread->sleeper;

        *thread = (struct watched){ .sleeper = sleeper };
    }
    return met != SLEEPER_NOT_MET;
}

void watched_look_again(struct watched *thread)
{
    thread->holds_us = thread->next_us = 0;
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
    struct feed_sample *sample;
    struct ring_writer ring;
    bool unknown_code;

    sample = round_reserve(round, &ring);
    if (!sample)
        return FULL;
    sleeper_sample(&thread->sleeper, round, slot, &look->blocked, sample, &unknown_code);
    thread->state = sample->state;
    /* Has it been where it was, all the time? */
    if (!sleeper_clock(&thread->sleeper, round, &look->clock, &look->has_clock) ||
        !thread_clock_stands(&before, &look->clock))
        return WOKE;
    sample->timestamp_us = first_us + FEED_SPREAD_US(slot, round->period_us);
    sample->kind = FEED_KIND_WALL;
    note_place(thread, round, hash_of(sample->frames, sample->depth));
    ring_commit(&ring);
    thread->told = thread->stands = true;
    thread->slept_at = look->clock;
    thread->holds_us = round->now_us + (int64_t)holds_for(thread, unknown_code) * round->period_us;
    round->unknown_code |= unknown_code;
    atomic_fetch_add_explicit(&status->ticks, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&status->delivered, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&status->ends[sample->end], 1, memory_order_relaxed);
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
        round_again(round, slot, thread->sleeper.generation, (enum feed_state)thread->state, before,
                    rounds);
        round_flush(round); /* what comes next says that it sleeps elsewhere */
        rounds -= before;
    }
    for (int tries = 0; tries < TRIES && taken == WOKE && look->sight == SLEEPER_ASLEEP; tries++) {
        taken = take_sleeper(thread, round, slot, look, rounds);
        if (taken == WOKE)
            look->sight = sleeper_see(&thread->sleeper, round, &look->blocked);
    }
    if (taken == TAKEN)
        round_again(round, slot, thread->sleeper.generation, (enum feed_state)thread->state,
                    rounds - 1, rounds - 1);
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
    if (look->sight == SLEEPER_CLOSED)
        round_count_lost(round, FEED_LOSS_NO_RIGHTS, rounds);
    else if (look->sight == SLEEPER_ASLEEP)
        tell_new_place(thread, round, slot, look, rounds);
    else if (look->sight == SLEEPER_STILL || look->slept_before ||
             (thread->told && waits_long(thread, round)))
        round_again(round, slot, thread->sleeper.generation, (enum feed_state)thread->state, rounds,
                    rounds);
    else
        put_off(thread, round, rounds);
}

static void pay_in(const struct watched *thread, struct round *round, uint32_t slot,
                   enum feed_state state, uint32_t rounds)
{
    while (rounds) {
        uint32_t some = rounds < FEED_ROUNDS_MAX ? rounds : FEED_ROUNDS_MAX;

        round_again(round, slot, thread->sleeper.generation, state, some, some);
        rounds -= some;
    }
}

/* No tick will answer: it is told where the thread slept last. */
void watched_pay(struct watched *thread, struct round *round, uint32_t slot)
{
    _Atomic uint32_t *owes = &round->writer->threads[slot].owed;
    uint32_t owed;

    if (!thread->told || thread->sleeper.generation != sleeper_generation(round, slot))
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

/* No thread of its process has, not even to end. */
static bool cannot_have_run(const struct watched *thread, const struct round *round)
{
    return thread->stands && round->ran_ns && round->ran_ns == thread->ran_ns;
}

/* False: the thread is gone. */
static bool look_at(struct watched *thread, const struct round *round, struct look *out)
{
    *out = (struct look){ .now_ns = (int64_t)clock_ns(CLOCK_MONOTONIC),
                          .slept_before = thread->stands,
                          .has_clock = true,
                          .clock = thread->slept_at };
    if (!cannot_have_run(thread, round) &&
        !sleeper_clock(&thread->sleeper, round, &out->clock, &out->has_clock))
        return false;
    thread->ran_ns = round->ran_ns;
    thread->stands = thread->stands && out->has_clock && round->now_us < thread->holds_us &&
                     thread_clock_stands(&thread->slept_at, &out->clock);
    out->sight =
        thread->stands ? SLEEPER_STILL : sleeper_see(&thread->sleeper, round, &out->blocked);
    if (!out->has_clock) /* just now, or the kernel keeps none: then what is seen decides */
        out->clock = thread->shares.clock;
    return out->sight != SLEEPER_GONE;
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
    bool awake = look->sight == SLEEPER_AWAKE;

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
static void plan_next(struct watched *thread, const struct round *round, enum sleeper_sight sight)
{
    bool still = thread->stands;
    uint32_t most = sight == SLEEPER_STILL ? STILL_REST_ROUNDS : MOVES_REST_ROUNDS, rounds = 1;
    int64_t same_us, step_us;

    if (still != thread->was_still || sight == SLEEPER_ASLEEP)
        thread->same_us = round->now_us;
    thread->was_still = still;
    same_us = round->now_us - (sight == SLEEPER_ASLEEP ? thread->place_us : thread->same_us);
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
    bool there = look_at(thread, round, &look);

    round->looked = true;
    round->moved |= !there || look.sight != SLEEPER_STILL;
    if (!there)
        return;
    account(thread, round, slot, &look);
    shares_take(&thread->shares, period_ns, FEED_ROUNDS_MAX, look.sight == SLEEPER_AWAKE, counts);
    if (counts[SHARE_RUN] + counts[SHARE_WAIT] + counts[SHARE_SLEEP] == FEED_ROUNDS_MAX)
        round_count_lost(round, FEED_LOSS_LATE, shares_drop(&thread->shares, period_ns));
    if (has_not_run(thread, &look)) { /* it was woken, and waits where it slept */
        round_again(round, slot, thread->sleeper.generation, FEED_STATE_RUNNABLE,
                    counts[SHARE_WAIT], counts[SHARE_WAIT]);
        counts[SHARE_WAIT] = 0;
    }
    if (counts[SHARE_RUN] || counts[SHARE_WAIT])
        thread->owes_us = round->now_us;
    round_owe(round, slot, counts[SHARE_RUN], counts[SHARE_WAIT]);
    tell_sleep(thread, round, slot, &look, counts[SHARE_SLEEP]);
    if (look.sight != SLEEPER_AWAKE && owes_long(thread, round, slot))
        watched_pay(thread, round, slot);
    plan_next(thread, round, look.sight);
}
