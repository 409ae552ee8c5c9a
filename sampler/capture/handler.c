#include "handler.h"

#include "sampler.h"
#include "system/arch.h"
#include "system/clock.h"
#include "system/cpu_times.h"
#include "threads/cpu_timer.h"
#include "threads/program_action.h"
#include "threads/tick_mask.h"
#include "threads/tick_signal.h"
#include "threads/user_clock.h"
#include "wall/wall.h"

#include "../feed/sys.h"

#include <sys/uio.h>

SIGNAL_SAFE_INLINE void count(_Atomic uint64_t *counter, uint64_t more)
{
    atomic_fetch_add_explicit(counter, more, memory_order_relaxed);
}

/* The sampler's thread will look the stack up; this sample has its leaf at least. */
SIGNAL_SAFE_INLINE void ask_for_stack(struct watch *watch, const ucontext_t *context)
{
    if (watch->stack.high || atomic_load_explicit(&watch->asked_sp, memory_order_relaxed))
        return;
    watch->probe_sp = arch_register(context, ARCH_SP);
    atomic_store_explicit(&watch->asked_sp, 1, memory_order_release);
    sampler_wake();
}

/* Of the thread's own time. */
SIGNAL_SAFE_INLINE uint64_t time_since(uint64_t began_ns, uint64_t began_cpu_ns)
{
    uint64_t wall_ns = clock_ns(CLOCK_MONOTONIC) - began_ns;

    return overload_is_doubtful(wall_ns) ? clock_thread_cpu_ns() - began_cpu_ns : wall_ns;
}

enum { YOUNG_SAMPLES = 16 };

/* One tick, and what it meets. */
struct tick {
    uint32_t slot;
    struct watch *watch;
    const ucontext_t *context;
    struct cpu_times before, now; /* at the thread's tick before, and at this one */
    uint64_t cpu_ns, since_ns;    /* of the thread; since its tick before */
    uint32_t base_us;             /* between two of this clock's ticks */
    bool user, system;            /* the time that its sample stands for */
    uint64_t weight_ns;
    uint32_t periods; /* that it counts for */
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

/* How often it counts: in wall mode as rounds say, else as periods of CPU time do. */
SIGNAL_SAFE_INLINE uint32_t periods_of(const struct tick *tick)
{
    uint32_t period_us = sampler_period_us(), timer_us = sampler.threads.timer_us;

    if (sampler.threads.wall)
        return 1;
    if (!sampler.threads.root_runs && period_us < timer_us)
        period_us = timer_us;
    return account_periods(&tick->watch->account.carry_ns, tick->weight_ns, period_us, UINT8_MAX);
}

/* False: it stands for too little, and the next one will stand for that too. */
SIGNAL_SAFE_INLINE bool weigh(struct tick *tick)
{
    struct account *account = &tick->watch->account;
    bool young = account->samples < YOUNG_SAMPLES;
    uint64_t leftover_ns = young ? take_leftover(tick) : 0;

    if (young)
        account->carry_ns +=
            atomic_exchange_explicit(&sampler.threads.carry_ns, 0, memory_order_relaxed);
    tick->weight_ns = account_weight(account, &tick->now, tick->user, tick->system) + leftover_ns;
    tick->periods = periods_of(tick);
    if (!tick->periods) {
        count(&sampler.threads.leftover_ns, leftover_ns);
        return false;
    }
    account_count(account, &tick->now, tick->user, tick->system);
    account->samples += young;
    return true;
}

SIGNAL_SAFE_INLINE void fill(struct feed_sample *sample, const struct tick *tick,
                             const struct own_thread *own, const struct code_map *map,
                             uint32_t frames_max)
{
    struct feed_status *status = &sampler.segment.header->status;
    struct watch *watch = tick->watch;
    const struct unwind_request request = { map,           &watch->stack, &watch->root_side,
                                            tick->context, frames_max,    &sampler.named };
    const char *tag = own ? own_thread_tag(own) : NULL;
    uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
    struct unwind_result result;

    sample->timestamp_us = (int64_t)(began_ns / 1000);
    sample->cpu_ns = tick->weight_ns;
    count(&status->sampled_ns, sample->cpu_ns);
    unwind(&request, sample->frames, &result);
    sample->depth = (uint16_t)result.depth;
    sample->end = (uint8_t)result.end;
    sample->generation = 0;
    wall_answer(sample, tick->watch);
    if (!sampler.threads.wall)
        sample->more_running = (uint8_t)(tick->periods - 1);
    sample->reserved = 0;
    sample->tag = tag ? segment_name(&sampler.segment, tag) : 0;
    sample->head = (struct feed_record){
        .size_bytes = (uint32_t)(sizeof *sample + sample->depth * sizeof(uint64_t)),
        .type = FEED_RECORD_SAMPLE,
    };
    count(&status->ends[result.end], 1 + (uint64_t)sample->more_running + sample->more_runnable);
    if (result.unknown_code)
        sampler_modules_unknown();
    overload_tick(&watch->load, tick->since_ns, time_since(began_ns, tick->cpu_ns));
}

SIGNAL_SAFE_INLINE void take_sample(struct tick *tick, const struct code_map *map)
{
    struct feed_header *header = sampler.segment.header;
    uint32_t frames_max = segment_depth_max(&sampler.segment);
    struct own_thread *own = atomic_load_explicit(&tick->watch->own, memory_order_acquire);
    struct feed_sample *sample;
    struct ring_writer ring;
    uint64_t more;

    segment_ring(&sampler.segment, tick->slot, &ring);
    sample = ring_reserve(&ring, (uint32_t)(sizeof *sample + frames_max * sizeof(uint64_t)));
    if (!sample) {
        count(&header->status.lost[FEED_LOSS_RING_FULL], 1);
        return;
    }
    if (!weigh(tick))
        return;
    ask_for_stack(tick->watch, tick->context);
    fill(sample, tick, own, map, frames_max);
    more = (uint64_t)sample->more_running + sample->more_runnable;
    ring_commit(&ring);
    if (own)
        own->samples = own->samples + 1;
    count(&header->status.delivered, 1 + more);
}

SIGNAL_SAFE_INLINE void sample_tick(struct tick *tick)
{
    struct feed_status *status = &sampler.segment.header->status;
    const struct code_map *map;
    uint32_t group;

    count(&status->ticks, 1);
    map = code_map_enter(&sampler.modules.maps, &group);
    if (map) {
        take_sample(tick, map);
    } else {
        count(&status->lost[FEED_LOSS_NO_TABLES], 1);
        sampler_modules_unknown();
    }
    code_map_leave(&sampler.modules.maps, group);
}

/* False: the tick is of no thread that is sampled now. */
SIGNAL_SAFE_INLINE bool begin(struct tick *tick, const ucontext_t *context)
{
    struct account *account;
    struct cpu_switches switches;

    tick->slot = sampler_ticks() ? threads_slot_of_tick(&sampler.threads, sampler.pid) : 0;
    if (!tick->slot)
        return false;
    tick->watch = threads_watch(&sampler.threads, tick->slot);
    tick->context = context;
    account = &tick->watch->account;
    tick->cpu_ns = cpu_times_read(&tick->now, &switches);
    tick->before = account->at_tick;
    tick->since_ns = tick->cpu_ns - account->at_tick_ns;
    if (switches.waits != account->switches.waits && tracer_suspect(&sampler.threads.tracer))
        sampler_wake();
    if (account->late) {
        account->late = false;
        account->counted = tick->before = tick->now;
        tick->since_ns = 0;
    } else if (switching_add(&sampler.threads.switching,
                             switches.waits - account->switches.waits + switches.others -
                                 account->switches.others,
                             tick->since_ns)) {
        sampler_wake();
    }
    account->at_tick_ns = tick->cpu_ns;
    account->at_tick = tick->now;
    account->switches = switches;
    return true;
}

/* Ticks that are left out: the period is longer than the clock's, by wish or by overload. */
SIGNAL_SAFE_INLINE bool is_due(const struct tick *tick, uint64_t *due_ns)
{
    uint32_t slowed = atomic_load_explicit(&tick->watch->load.slowed, memory_order_relaxed);
    uint64_t wanted_us = (uint64_t)sampler_period_us() << slowed;

    /* Those that come a little too often are left out by what they stand for (weigh). */
    if (2 * wanted_us < 3 * tick->base_us)
        return true;
    if (account_is_due(due_ns, tick->cpu_ns, wanted_us))
        return true;
    if (slowed)
        count(&sampler.segment.header->status.lost[FEED_LOSS_SLOWED], 1);
    return false;
}

/* Through the kernel, for code need not be readable. */
SIGNAL_SAFE_INLINE bool is_behind_syscall(const ucontext_t *context)
{
    uint8_t code[ARCH_SYSCALL_BYTES];
    struct iovec to = { code, sizeof code };
    struct iovec from = { (void *)(arch_pc(context) - sizeof code), sizeof code };

    return sys_call6(SYS_process_vm_readv, sampler.pid, (long)&to, 1, (long)&from, 1, 0) ==
               sizeof code &&
           arch_is_syscall(code);
}

/* False: the time it was in is the other clock's. */
SIGNAL_SAFE_INLINE bool is_timers(struct tick *tick)
{
    struct account *account = &tick->watch->account;
    bool alone = !sampler.threads.root_runs;

    tick->system =
        alone || is_behind_syscall(tick->context) || account_is_system(&tick->before, &tick->now);
    tick->user = alone || (!tick->system && !account->samples);
    return tick->user || tick->system;
}

SIGNAL_SAFE_INLINE bool is_wanted(const struct tick *tick)
{
    return !sampler.threads.wall ||
           atomic_load_explicit(&tick->watch->owed, memory_order_relaxed) != 0;
}

void handler_tick(int number, siginfo_t *info, void *context)
{
    struct tick tick = { .base_us = sampler.threads.timer_us };

    if (cpu_timer_is_tick(info)) {
        /* Before it is seen whether the sampler runs: who stops it waits for those that saw it. */
        atomic_fetch_add_explicit(&sampler.handlers, 1, memory_order_seq_cst);
        if (begin(&tick, context) && is_timers(&tick) && is_wanted(&tick) &&
            is_due(&tick, &tick.watch->account.timer_due_ns))
            sample_tick(&tick);
        atomic_fetch_sub_explicit(&sampler.handlers, 1, memory_order_release);
        return;
    }
    /* Somebody else sent it. */
    if (!tick_mask_hold(number, info, context) && !program_action_run(number, info, context) &&
        number != SIGURG && (info->si_code == SI_USER || info->si_code == SI_TKILL))
        tick_signal_default(number);
}

void handler_trap(int number, siginfo_t *info, void *context)
{
    struct tick tick = { .base_us = user_clock_of_trap(info), .user = true };

    if (tick.base_us) {
        atomic_fetch_add_explicit(&sampler.handlers, 1, memory_order_seq_cst);
        if (begin(&tick, context) && !sampler.threads.wall &&
            is_due(&tick, &tick.watch->account.due_ns))
            sample_tick(&tick);
        atomic_fetch_sub_explicit(&sampler.handlers, 1, memory_order_release);
    } else if (!tick_mask_hold(number, info, context) &&
               !program_action_run(number, info, context)) {
        tick_signal_default(number);
    }
}
