#include "threads.h"

#include "switch_cost.h"
#include "tick_signal.h"

#include "../../feed/sys.h"
#include "../system/clock.h"
#include "../system/maps.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { NS_PER_US = 1000, SWITCHES_A_S_MIN = 2000 };

static void count_loss(struct threads *threads, enum feed_loss loss)
{
    atomic_fetch_add_explicit(&threads->segment->header->status.lost[loss], 1,
                              memory_order_relaxed);
}

uint32_t threads_take(struct threads *threads, int32_t tid, const struct stack_range *stack,
                      bool scanned)
{
    uint32_t slot = segment_thread_claim(threads->segment, tid, clock_now_us());
    struct watch *watch = &threads->watches[slot];
    uint32_t used;

    if (!slot) {
        count_loss(threads, FEED_LOSS_NO_SLOT);
        return 0;
    }
    watch->tid = tid;
    watch->scanned = scanned;
    watch->timer = (struct timer){ FEED_TIMER_NONE, -1, 0 };
    watch->stack = *stack;
    memset(&watch->root_side, 0, sizeof watch->root_side);
    watch->cpu_before_ns = 0;
    memset(&watch->load, 0, sizeof watch->load);
    atomic_store_explicit(&watch->first_tick, FIRST_TICK_NONE, memory_order_relaxed);
    watch->begun = false;
    atomic_store_explicit(&watch->owed, 0, memory_order_relaxed);
    watch->due_ns = 0;
    watch->head_seen = watch->cpu_seen_ns = 0;
    watch->deaf = false;
    atomic_store_explicit(&watch->own, NULL, memory_order_relaxed);
    atomic_store_explicit(&watch->named, 0, memory_order_relaxed);
    atomic_store_explicit(&watch->asked_sp, 0, memory_order_relaxed);
    atomic_store_explicit(&watch->state, WATCH_NEW, memory_order_release);
    used = atomic_load_explicit(&threads->used, memory_order_relaxed);
    while (used <= slot &&
           !atomic_compare_exchange_weak_explicit(&threads->used, &used, slot + 1,
                                                  memory_order_release, memory_order_relaxed))
        ;
    atomic_fetch_add_explicit(&threads->live, 1, memory_order_relaxed);
    segment_thread_publish(threads->segment, slot);
    return slot;
}

uint32_t threads_enter(struct threads *threads, int32_t tid, const struct stack_range *stack)
{
    uint32_t slot = threads_take(threads, tid, stack, false);

    if (slot)
        threads->watches[slot].cpu_before_ns = clock_thread_cpu_ns();
    return slot;
}

void threads_leave(struct threads *threads, uint32_t slot)
{
    if (slot)
        atomic_store_explicit(&threads->watches[slot].state, WATCH_ENDING, memory_order_release);
}

/* Wall mode's: the value is the watch's address, which nobody else has. */
SIGNAL_SAFE_INLINE uint32_t slot_of_asked_tick(const struct threads *threads, const siginfo_t *info)
{
    uintptr_t at = (uintptr_t)info->si_value.sival_ptr - (uintptr_t)threads->watches;

    return at % sizeof(struct watch) == 0 && at < sizeof threads->watches
               ? (uint32_t)(at / sizeof(struct watch))
               : 0;
}

/* The value of a timer's or the interrupter's signal, if it is a slot with such a timer. */
SIGNAL_SAFE_INLINE uint32_t slot_of_value(const struct threads *threads, const siginfo_t *info,
                                          enum feed_timer kind)
{
    uint32_t slot = (uint32_t)info->si_value.sival_int;

    return slot < FEED_THREADS_MAX && threads->watches[slot].timer.kind == kind ? slot : 0;
}

uint32_t threads_slot_of_tick(const struct threads *threads, const void *siginfo)
{
    const siginfo_t *info = siginfo;
    uint32_t slot;

    if (info->si_code == SI_TIMER)
        return slot_of_value(threads, info, FEED_TIMER_CPU_CLOCK);
    if (info->si_code == SI_QUEUE) {
        slot = slot_of_asked_tick(threads, info);
        return slot ? slot : slot_of_value(threads, info, FEED_TIMER_INTERRUPTER);
    }
    /* POLL_IN to POLL_HUP: what F_SETSIG sends. kill and the like have codes of 0 and less. */
    if (info->si_code < POLL_IN || info->si_code > POLL_HUP || info->si_fd < 0 ||
        info->si_fd > UINT16_MAX)
        return 0;
    return threads->slot_of_fd[info->si_fd];
}

static void drop_timer(struct threads *threads, struct watch *watch)
{
    if (watch->timer.kind == FEED_TIMER_PERF_SIGNAL && watch->timer.id <= UINT16_MAX)
        threads->slot_of_fd[watch->timer.id] = 0;
    timer_close(&watch->timer);
}

static void report_timer(struct threads *threads, uint32_t slot, const struct timer *timer)
{
    struct feed_status *status = &threads->segment->header->status;

    atomic_store_explicit(&threads->segment->threads[slot].timer, timer->kind,
                          memory_order_relaxed);
    atomic_store_explicit(&status->timer, timer->kind, memory_order_relaxed);
    atomic_store_explicit(&status->exclude_kernel,
                          threads->rights.exclude_kernel && (timer->kind == FEED_TIMER_PERF_TRAP ||
                                                             timer->kind == FEED_TIMER_PERF_SIGNAL),
                          memory_order_relaxed);
}

static uint32_t period_of(const struct threads *threads, const struct watch *watch)
{
    uint64_t period_us = (uint64_t)threads->period_us
                         << atomic_load_explicit(&watch->load.slowed, memory_order_relaxed);

    return period_us < FEED_PERIOD_MAX_US ? (uint32_t)period_us : FEED_PERIOD_MAX_US;
}

static void set_timer(struct threads *threads, struct watch *watch)
{
    bool rests = threads->timers_rest || rests_hold(&threads->rests, watch->tid);

    timer_set(&watch->timer, rests ? 0 : period_of(threads, watch));
    atomic_store_explicit(&watch->first_tick, FIRST_TICK_NONE, memory_order_release);
}

static uint32_t random_below(struct threads *threads, uint32_t limit)
{
    threads->random = threads->random * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)threads->random * limit >> 32);
}

/* What the thread has used until now counts. The first sample's weight is a whole period: on
 * average over threads that end within one this is the time they took. */
static uint32_t first_period_us(struct threads *threads, struct watch *watch, uint32_t period_us)
{
    uint64_t part_ns = random_below(threads, period_us) * UINT64_C(1000);
    uint64_t now_ns = timer_thread_cpu_ns(watch->tid), used_ns = now_ns - watch->cpu_before_ns;
    uint32_t first_us = part_ns < used_ns + FEED_PERIOD_MIN_US * NS_PER_US
                            ? FEED_PERIOD_MIN_US
                            : (uint32_t)((part_ns - used_ns) / NS_PER_US);

    watch->cpu_before_ns -= period_us * UINT64_C(1000) - part_ns;
    watch->due_ns = now_ns + first_us * UINT64_C(1000);
    watch->first_us = first_us;
    watch->first_period_us = period_us;
    return first_us;
}

static void start_timer(struct threads *threads, struct watch *watch)
{
    uint32_t period_us = period_of(threads, watch), first_us;

    if (watch->begun || watch->scanned || threads->timers_rest || !period_us ||
        rests_hold(&threads->rests, watch->tid)) {
        set_timer(threads, watch);
        return;
    }
    watch->begun = true;
    first_us = first_period_us(threads, watch, period_us);
    atomic_store_explicit(&watch->first_tick, FIRST_TICK_AWAITED, memory_order_release);
    if (!timer_start(&watch->timer, first_us, period_us))
        atomic_store_explicit(&watch->first_tick, FIRST_TICK_NONE, memory_order_relaxed);
}

static void arm(struct threads *threads, uint32_t slot)
{
    struct watch *watch = &threads->watches[slot];
    uint32_t new_state = WATCH_NEW;
    struct timer timer = { FEED_TIMER_NONE, -1, 0 };
    int error = -EBUSY;

    if (threads->signal_number)
        error = timer_open(&timer, &threads->rights, watch->tid, threads->signal_number, slot);
    if (timer.kind == FEED_TIMER_PERF_SIGNAL && timer.id > UINT16_MAX) {
        timer_close(&timer);
        error = -EMFILE;
    }
    /* A thread that is already gone (ESRCH; EINVAL from its clock) is no loss. */
    if (error && error != -ESRCH && error != -EINVAL)
        count_loss(threads, FEED_LOSS_NO_TIMER);
    watch->timer = timer;
    if (timer.kind == FEED_TIMER_PERF_SIGNAL)
        threads->slot_of_fd[timer.id] = (uint16_t)slot;
    if (timer.kind != FEED_TIMER_NONE)
        report_timer(threads, slot, &timer);
    /* It may have ended meanwhile; then ENDING stays. */
    atomic_compare_exchange_strong_explicit(&watch->state, &new_state, WATCH_ARMED,
                                            memory_order_acq_rel, memory_order_relaxed);
    start_timer(threads, watch);
}

static void let_go(struct threads *threads, uint32_t slot)
{
    struct watch *watch = &threads->watches[slot];

    drop_timer(threads, watch);
    watch->tid = 0;
    atomic_store_explicit(&watch->state, WATCH_NONE, memory_order_release);
    atomic_fetch_sub_explicit(&threads->live, 1, memory_order_relaxed);
    segment_thread_end(threads->segment, slot);
}

/* Once known, a stack stays: the handler may be reading the range. */
static void answer_stack(struct watch *watch)
{
    struct stack_range range = { 0 };

    if (!watch->stack.high && maps_find(watch->probe_sp, &range.low, &range.high)) {
        watch->stack.low = range.low;
        __atomic_store_n(&watch->stack.high, range.high, __ATOMIC_RELEASE);
    }
    /* 2: asked and answered. A stack that is still unknown is not asked for again. */
    atomic_store_explicit(&watch->asked_sp, 2, memory_order_release);
}

void threads_poll(struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    for (uint32_t slot = 1; slot < used; slot++) {
        struct watch *watch = &threads->watches[slot];

        switch (atomic_load_explicit(&watch->state, memory_order_acquire)) {
        case WATCH_NEW:
            arm(threads, slot);
            break;
        case WATCH_ENDING:
            let_go(threads, slot);
            break;
        case WATCH_ARMED:
            if (atomic_load_explicit(&watch->asked_sp, memory_order_acquire) == 1)
                answer_stack(watch);
            if (atomic_load_explicit(&watch->first_tick, memory_order_acquire) == FIRST_TICK_TAKEN)
                set_timer(threads, watch);
            break;
        }
    }
}

uint32_t threads_find(struct threads *threads, int32_t tid)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    for (uint32_t slot = 1; slot < used; slot++)
        if (threads->watches[slot].tid == tid)
            return slot;
    return 0;
}

void threads_give_name(struct threads *threads, uint32_t slot, const char name[16])
{
    struct watch *watch = &threads->watches[slot];

    memcpy(watch->name, name, sizeof watch->name);
    atomic_store_explicit(&watch->named, 1, memory_order_release);
    segment_thread_name(threads->segment, slot, watch->name);
}

/* A thread that was found by a scan, and then told of itself, has two watches for a moment. */
static void serve_rest(struct threads *threads, struct rest *rest)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);
    int32_t tid;
    enum rest_state state = rests_state(rest, &tid);
    bool asked = state == REST_ASKED;

    if (!asked && !(state == REST_OVER && rests_drop(rest, tid)))
        return;
    for (uint32_t slot = 1; slot < used; slot++) {
        struct watch *watch = &threads->watches[slot];

        if (watch->tid != tid)
            continue;
        if (asked)
            timer_set(&watch->timer, 0);
        else if (atomic_load(&watch->state) == WATCH_ARMED)
            start_timer(threads, watch);
    }
    if (asked)
        rests_answer(rest, tid);
}

void threads_rest(struct threads *threads)
{
    if (!rests_look(&threads->rests))
        return;
    for (int i = 0; i < RESTS_MAX; i++)
        serve_rest(threads, &threads->rests.list[i]);
}

bool threads_interrupt(struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);
    bool any = false;

    if (threads->rights.wish != FEED_TIMER_WISH_INTERRUPTER || !threads->period_us ||
        threads->timers_rest)
        return false;
    for (uint32_t slot = 1; slot < used; slot++) {
        struct watch *watch = &threads->watches[slot];
        uint64_t cpu_ns;

        if (atomic_load_explicit(&watch->state, memory_order_acquire) != WATCH_ARMED)
            continue;
        any = true;
        cpu_ns = timer_thread_cpu_ns(watch->tid);
        if (cpu_ns < watch->due_ns)
            continue;
        if (watch->due_ns)
            timer_interrupt(watch->tid, threads->signal_number, slot);
        watch->due_ns = cpu_ns + period_of(threads, watch) * UINT64_C(1000);
    }
    return any;
}

void threads_set_period(struct threads *threads, uint32_t period_us, bool timers_rest)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    threads->period_us = period_us;
    threads->timers_rest = timers_rest;
    for (uint32_t slot = 1; slot < used; slot++)
        set_timer(threads, &threads->watches[slot]);
}

/* Of the timer; not asked for where threads switch so seldom that no price would matter. */
static uint32_t switch_ns(const struct watch *watch)
{
    bool perf =
        watch->timer.kind == FEED_TIMER_PERF_TRAP || watch->timer.kind == FEED_TIMER_PERF_SIGNAL;

    return perf && watch->load.switches_a_s > SWITCHES_A_S_MIN ? switch_cost_ns() : 0;
}

void threads_relieve(struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);
    uint32_t queued = UINT32_MAX; /* not asked for yet */
    struct overload_costs costs = { .period_us = threads->period_us,
                                    .tick_us = timer_floor_us(FEED_TIMER_CPU_CLOCK) };

    for (uint32_t slot = 1; slot < used; slot++) {
        struct watch *watch = &threads->watches[slot];
        bool suspected = overload_suspected(&watch->load);

        if (atomic_load_explicit(&watch->state, memory_order_acquire) != WATCH_ARMED)
            continue;
        if (suspected && queued == UINT32_MAX)
            queued = tick_signal_queued();
        costs.queued = suspected ? queued : 0;
        costs.switch_ns = threads->timers_rest ? 0 : switch_ns(watch);
        if (overload_look(&watch->load, &costs))
            set_timer(threads, watch);
    }
}

void threads_rearm(struct threads *threads, int signal_number)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    threads->signal_number = signal_number;
    for (uint32_t slot = 1; slot < used; slot++) {
        struct watch *watch = &threads->watches[slot];
        uint32_t armed = WATCH_ARMED;

        drop_timer(threads, watch);
        atomic_compare_exchange_strong(&watch->state, &armed, WATCH_NEW);
    }
}

void threads_stop(struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    for (uint32_t slot = 1; slot < used; slot++)
        if (atomic_load_explicit(&threads->watches[slot].state, memory_order_acquire) != WATCH_NONE)
            let_go(threads, slot);
}
