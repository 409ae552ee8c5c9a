#include "handler.h"

#include "capture.h"
#include "forked.h"
#include "sampler_state.h"
#include "system/arch.h"
#include "system/clock.h"
#include "system/cpu_times.h"
#include "system/memory.h"
#include "threads/cpu_timer.h"
#include "threads/fault_event.h"
#include "threads/program_action.h"
#include "threads/tasks.h"
#include "threads/tick_mask.h"
#include "threads/tick_signal.h"
#include "threads/user_clock.h"
#include "tick_stack.h"

#include "../feed/feed_count.h"
#include "../feed/sys.h"

enum { YOUNG_SAMPLES = 16, NAME_US = 100 * 1000 };

/* Threads give themselves names when they please. */
SIGNAL_SAFE_INLINE void follow_name(struct sampled_thread *sampled, uint32_t slot, int64_t now_us)
{
    if (now_us < sampled->name_us)
        return;
    sampled->name_us = now_us + NAME_US;
    tasks_own_name(&sampler.threads, slot);
}

/* Of the thread's own time. */
SIGNAL_SAFE_INLINE uint64_t time_since(uint64_t began_ns, uint64_t began_cpu_ns)
{
    uint64_t wall_ns = clock_ns(CLOCK_MONOTONIC) - began_ns;

    return throttle_is_doubtful(wall_ns) ? clock_thread_cpu_ns() - began_cpu_ns : wall_ns;
}

/* One tick, and what it meets. */
struct tick {
    uint32_t slot;
    struct sampled_thread *sampled;
    const ucontext_t *context;
    uint32_t sources;                /* of the thread */
    struct cpu_times before, now;    /* at the thread's tick before, and at this one */
    uint64_t cpu_ns, since_ns;       /* of the thread; since its tick before */
    uint32_t base_us;                /* between two of this clock's ticks */
    bool user, system;               /* the time that its sample stands for */
    bool roomy;                      /* on a stack of ours */
    uint64_t weight_ns, leftover_ns; /* and what of it others left */
    uint32_t periods;                /* that it counts for */
    struct account unsampled;        /* the thread's, before that */
};

/* Of threads that ended in the middle of a period, as this one may: what they leave is as good as
 * its own, up to a period. */
SIGNAL_SAFE_INLINE uint64_t take_leftover(const struct tick *tick)
{
    _Atomic uint64_t *leftover = &sampler.threads.leftover_ns;
    uint64_t left_ns = atomic_load_explicit(leftover, memory_order_relaxed), taken_ns;
    uint64_t most_ns = tick->base_us * UINT64_C(1000);

    do
        taken_ns = left_ns < most_ns ? left_ns : most_ns;
    while (taken_ns &&
           !atomic_compare_exchange_weak_explicit(leftover, &left_ns, left_ns - taken_ns,
                                                  memory_order_relaxed, memory_order_relaxed));
    return taken_ns;
}

/* As often as periods of CPU time. */
SIGNAL_SAFE_INLINE uint32_t periods_of(const struct tick *tick)
{
    uint32_t period_us = sampler_period_us(), timer_us = sampler.threads.timer_us;

    if (!threads_user_clock_runs(&sampler.threads) && period_us < timer_us)
        period_us = timer_us;
    return account_periods(&tick->sampled->account.carry_ns, tick->weight_ns, period_us, UINT8_MAX);
}

/* False: it stands for too little, and the next one will stand for that too. */
SIGNAL_SAFE_INLINE bool weigh(struct tick *tick, enum feed_kind kind)
{
    struct account *account = &tick->sampled->account;
    bool young = account->samples < YOUNG_SAMPLES;

    tick->leftover_ns = young ? take_leftover(tick) : 0;
    if (young)
        account->carry_ns +=
            atomic_exchange_explicit(&sampler.threads.carry_ns, 0, memory_order_relaxed);
    tick->unsampled = *account;
    tick->weight_ns =
        account_weight(account, &tick->now, tick->user, tick->system) + tick->leftover_ns;
    tick->periods = kind == FEED_KIND_WALL ? 1 : periods_of(tick);
    if (!tick->periods) {
        feed_count(&sampler.threads.leftover_ns, tick->leftover_ns);
        return false;
    }
    account_count(account, &tick->now, tick->user, tick->system);
    account->samples += young;
    return true;
}

SIGNAL_SAFE_INLINE bool has_both(const struct tick *tick)
{
    return tick->sources & SOURCE_CPU && tick->sources & SOURCE_WALL;
}

/* The time is that of CPU mode's samples, and of a round's where there are no others. */
SIGNAL_SAFE_INLINE bool has_weight(struct tick *tick, enum feed_kind kind)
{
    if (kind != FEED_KIND_WALL || !has_both(tick))
        return weigh(tick, kind);
    tick->unsampled = tick->sampled->account;
    tick->weight_ns = tick->leftover_ns = 0;
    tick->periods = 1;
    return true;
}

/* The sample is lost: its time is the next one's. */
SIGNAL_SAFE_INLINE void take_weight_back(const struct tick *tick)
{
    tick->sampled->account = tick->unsampled;
    feed_count(&sampler.threads.leftover_ns, tick->leftover_ns);
}

/* Returns the rounds that it answers for. */
SIGNAL_SAFE_INLINE uint32_t fill_weight(const struct tick *tick, enum feed_kind kind,
                                        struct sample_weight *weight)
{
    uint32_t owed = 0;

    *weight = (struct sample_weight){ .state = FEED_STATE_RUNNING };
    if (kind == FEED_KIND_WALL || !has_both(tick))
        owed = wall_answer(weight, &sampler.writer.threads[tick->slot]);
    weight->cpu_ns = tick->weight_ns;
    if (kind == FEED_KIND_CPU)
        weight->more_running = (uint16_t)(tick->periods - 1);
    return owed;
}

SIGNAL_SAFE_INLINE void sample_tick(struct tick *tick, enum feed_kind kind)
{
    const struct capture_registers registers = { tick->context, tick->roomy };
    struct sample_weight weight;
    struct capture place;
    uint32_t owed;

    feed_count(&sampler.writer.header->status.ticks, 1);
    if (!capture_begin(&place, kind, tick->slot))
        return;
    if (!has_weight(tick, kind)) {
        capture_cancel(&place);
        return;
    }
    owed = fill_weight(tick, kind, &weight);
    if (!capture(&place, &weight, &registers)) {
        wall_owe_again(&sampler.writer.threads[tick->slot], owed);
        take_weight_back(tick);
        return;
    }
    follow_name(tick->sampled, tick->slot, (int64_t)(place.began_ns / 1000));
    throttle_tick(&tick->sampled->throttle, tick->since_ns,
                  time_since(place.began_ns, tick->cpu_ns));
}

SIGNAL_SAFE_INLINE void suspect_tracer(void)
{
    atomic_fetch_add_explicit(&sampler.writer.header->status.suspects_tracer, 1,
                              memory_order_relaxed);
    sampler_ask_service();
}

/* False: the tick is of no thread that is sampled now. */
SIGNAL_SAFE_INLINE bool begin_tick(struct tick *tick, const ucontext_t *context)
{
    struct account *account;
    struct cpu_switches switches;

    tick->slot = sampler_ticks() ? threads_slot_of_tick(&sampler.threads, sampler.pid) : 0;
    if (!tick->slot)
        return false;
    tick->sampled = threads_at(&sampler.threads, tick->slot);
    tick->sources = atomic_load_explicit(&tick->sampled->sources, memory_order_relaxed);
    tick->context = context;
    account = &tick->sampled->account;
    tick->cpu_ns = cpu_times_read(&tick->now, &switches);
    tick->before = account->at_tick;
    tick->since_ns = tick->cpu_ns - account->at_tick_ns;
    if (switches.waits != account->switches.waits && tracer_suspect(&sampler.threads.tracer))
        suspect_tracer();
    if (account->late) {
        account->late = false;
        account->counted = tick->before = tick->now;
        tick->since_ns = 0;
    } else {
        switching_add(&sampler.threads.switching,
                      switches.waits - account->switches.waits + switches.others -
                          account->switches.others,
                      tick->since_ns);
    }
    account->at_tick_ns = tick->cpu_ns;
    account->at_tick = tick->now;
    account->switches = switches;
    return true;
}

/* Ticks that are left out: the period is longer than the clock's, by wish or by the throttle. */
SIGNAL_SAFE_INLINE bool is_due(const struct tick *tick, uint64_t *due_ns)
{
    uint32_t shift = atomic_load_explicit(&tick->sampled->throttle.shift, memory_order_relaxed);
    uint64_t wanted_us = (uint64_t)sampler_period_us() << shift;

    /* Those that come a little too often are left out by what they stand for (weigh). */
    if (2 * wanted_us < 3 * tick->base_us)
        return true;
    if (account_is_due(due_ns, tick->cpu_ns, wanted_us))
        return true;
    if (shift)
        feed_count(&sampler.writer.header->status.lost[FEED_LOSS_THROTTLED], 1);
    return false;
}

/* Through the kernel, for code need not be readable. */
SIGNAL_SAFE_INLINE bool is_behind_syscall(const ucontext_t *context)
{
    uint8_t code[ARCH_SYSCALL_BYTES];
    uint64_t at = arch_pc(context) - sizeof code;

    return memory_copy(sampler.pid, code, at, sizeof code) == sizeof code && arch_is_syscall(code);
}

/* False: the time it was in is the other clock's. */
SIGNAL_SAFE_INLINE bool is_timers(struct tick *tick)
{
    struct account *account = &tick->sampled->account;
    bool alone = !threads_user_clock_runs(&sampler.threads);

    tick->system =
        alone || is_behind_syscall(tick->context) || account_is_system(&tick->before, &tick->now);
    tick->user = alone || (!tick->system && !account->samples);
    return tick->user || tick->system;
}

/* Of which event, and where it met the thread. */
struct met {
    const ucontext_t *context;
    uint32_t base_us; /* of a clock */
    bool user, roomy;
    uint32_t faults; /* of page faults: so many */
    bool late;       /* the thread was somewhere else: mostly in a tick of ours */
};

/* Rounds of wall mode are answered by the timer's ticks; where CPU mode is on too, by any. */
SIGNAL_SAFE_INLINE void sample_sources(struct tick *tick, bool user_clock)
{
    struct account *account = &tick->sampled->account;
    bool cpu = tick->sources & SOURCE_CPU;
    bool round = tick->sources & SOURCE_WALL && wall_is_owed(&sampler.writer.threads[tick->slot]);

    if (round && cpu)
        sample_tick(tick, FEED_KIND_WALL);
    if (user_clock ? cpu && is_due(tick, &account->due_ns)
                   : is_timers(tick) && (cpu || round) && is_due(tick, &account->timer_due_ns))
        sample_tick(tick, cpu ? FEED_KIND_CPU : FEED_KIND_WALL);
}

/* What others are waiting for. */
SIGNAL_SAFE_INLINE void tend(const struct met *at)
{
    if (!at->roomy)
        return;
    forked_begin_at_tick();
    if (atomic_load_explicit(&sampler.running, memory_order_acquire) == RUN_ON)
        tend_at_tick();
}

static SIGNAL_SAFE void take_tick(void *met)
{
    const struct met *at = met;
    struct tick tick = { .base_us = at->base_us, .user = at->user, .roomy = at->roomy };

    tend(at);
    if (begin_tick(&tick, at->context))
        sample_sources(&tick, at->user);
}

SIGNAL_SAFE_INLINE bool sample_fault(const struct met *at, uint32_t slot)
{
    const struct capture_registers registers = { at->context, at->roomy };
    const struct sample_weight weight = { .cpu_ns = at->faults, .state = FEED_STATE_RUNNING };
    struct capture place;

    return slot && capture_begin(&place, FEED_KIND_FAULT, slot) &&
           capture(&place, &weight, &registers);
}

/* The last of some page faults stands for all of them. */
static SIGNAL_SAFE void take_fault(void *met)
{
    const struct met *at = met;
    struct feed_status *status;

    tend(at);
    if (!sampler_running())
        return;
    status = &sampler.writer.header->status;
    feed_count(at->late || !sample_fault(at, threads_slot_of_tick(&sampler.threads, sampler.pid))
                   ? &status->faults_lost
                   : &status->faults_sampled,
               1);
}

static SIGNAL_SAFE void on_own_stack(void (*work)(void *), struct met *met)
{
    void *stack = tick_stack_take();

    met->roomy = stack != NULL;
    if (!stack) {
        work(met);
        return;
    }
    arch_call_on(stack, work, met);
    tick_stack_give(stack);
}

static SIGNAL_SAFE void take(void (*work)(void *), struct met *met)
{
    /* Before it is seen whether the sampler runs: who stops it waits for those that saw it. */
    atomic_fetch_add_explicit(&sampler.handlers, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&sampler.running, memory_order_acquire) != RUN_STOPPED)
        on_own_stack(work, met);
    atomic_fetch_sub_explicit(&sampler.handlers, 1, memory_order_release);
}

void handler_tick(int number, siginfo_t *info, void *context)
{
    if (cpu_timer_is_tick(info)) {
        take(take_tick, &(struct met){ .context = context, .base_us = sampler.threads.timer_us });
        return;
    }
    /* Somebody else sent it. */
    if (!tick_mask_hold(number, info, context) && !program_action_run(number, info, context) &&
        number != SIGURG && (info->si_code == SI_USER || info->si_code == SI_TKILL))
        tick_signal_default(number);
}

void handler_trap(int number, siginfo_t *info, void *context)
{
    struct met met = { .context = context,
                       .base_us = user_clock_of_trap(info),
                       .user = true,
                       .faults = fault_event_of_trap(info),
                       .late = perf_trap_is_late(info) };

    if (met.base_us)
        take(take_tick, &met);
    else if (met.faults)
        take(take_fault, &met);
    else if (!tick_mask_hold(number, info, context) && !program_action_run(number, info, context))
        tick_signal_default(number);
}
