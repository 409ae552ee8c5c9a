#include "handler.h"

#include "sampler.h"
#include "system/clock.h"
#include "threads/program_action.h"
#include "threads/tick_signal.h"
#include "wall/wall.h"

#include "../feed/sys.h"

#include <sys/resource.h>

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

SIGNAL_SAFE_INLINE void count_switches(struct load *load, uint64_t cpu_ns)
{
    struct rusage usage;

    if (sys_call2(SYS_getrusage, RUSAGE_THREAD, &usage) == 0)
        overload_switches(load, (uint32_t)(usage.ru_nvcsw + usage.ru_nivcsw), cpu_ns);
}

SIGNAL_SAFE_INLINE void fill(struct feed_sample *sample, struct watch *watch,
                             const struct own_thread *own, const struct code_map *map,
                             const ucontext_t *context, uint32_t frames_max)
{
    struct feed_header *header = sampler.segment.header;
    uint64_t cpu_ns = clock_thread_cpu_ns();
    const struct unwind_request request = { map,     &watch->stack, &watch->root_side,
                                            context, frames_max,    &sampler.named };
    const char *tag = own ? own_thread_tag(own) : NULL;
    uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
    struct unwind_result result;
    uint32_t left_out;

    sample->timestamp_us = (int64_t)(began_ns / 1000);
    sample->cpu_ns = cpu_ns - watch->cpu_before_ns;
    watch->cpu_before_ns = cpu_ns;
    left_out =
        overload_tick(&watch->load, sample->cpu_ns,
                      atomic_load_explicit(&header->control.period_us, memory_order_relaxed));
    if (left_out)
        count(&header->status.lost[FEED_LOSS_SLOWED], left_out);
    if (overload_wants_switches(&watch->load))
        count_switches(&watch->load, cpu_ns);
    unwind(&request, sample->frames, &result);
    sample->depth = (uint16_t)result.depth;
    sample->end = (uint8_t)result.end;
    sample->generation = 0;
    wall_answer(sample, watch);
    sample->reserved = 0;
    sample->tag = tag ? segment_name(&sampler.segment, tag) : 0;
    sample->head = (struct feed_record){
        .size_bytes = (uint32_t)(sizeof *sample + sample->depth * sizeof(uint64_t)),
        .type = FEED_RECORD_SAMPLE,
    };
    count(&header->status.ends[result.end], 1);
    if (result.unknown_code)
        sampler_modules_unknown();
    overload_tick_done(&watch->load, time_since(began_ns, cpu_ns));
}

SIGNAL_SAFE_INLINE void take_sample(uint32_t slot, struct watch *watch, const struct code_map *map,
                                    const ucontext_t *context)
{
    struct feed_header *header = sampler.segment.header;
    uint32_t frames_max = segment_depth_max(&sampler.segment);
    struct own_thread *own = atomic_load_explicit(&watch->own, memory_order_acquire);
    struct feed_sample *sample;
    struct ring_writer ring;
    uint64_t more;

    segment_ring(&sampler.segment, slot, &ring);
    sample = ring_reserve(&ring, (uint32_t)(sizeof *sample + frames_max * sizeof(uint64_t)));
    if (!sample) {
        count(&header->status.lost[FEED_LOSS_RING_FULL], 1);
        return;
    }
    ask_for_stack(watch, context);
    fill(sample, watch, own, map, context, frames_max);
    more = (uint64_t)sample->more_running + sample->more_runnable;
    ring_commit(&ring);
    if (own)
        own->samples = own->samples + 1;
    count(&header->status.delivered, 1 + more);
}

/* The timer comes each first_us. Where the kernel drops what falls into kernel mode the first one
 * may be missing; then the thread has its next chance a period later, as with any tick. */
SIGNAL_SAFE_INLINE bool is_first(const struct watch *watch)
{
    uint64_t period_ns = watch->first_period_us * UINT64_C(1000);
    uint64_t first_ns = watch->first_us * UINT64_C(1000);
    uint64_t since_ns;

    if (!atomic_load_explicit(&sampler.segment.header->status.exclude_kernel, memory_order_relaxed))
        return true;
    since_ns = clock_thread_cpu_ns() - watch->due_ns + first_ns / 2 + period_ns;

    return since_ns / period_ns > (since_ns - first_ns) / period_ns;
}

/* False: it is one of those around a first tick, until the period is set (threads.h). */
SIGNAL_SAFE_INLINE bool is_due(struct watch *watch)
{
    uint32_t first = atomic_load_explicit(&watch->first_tick, memory_order_acquire);

    if (first == FIRST_TICK_NONE)
        return true;
    if (first == FIRST_TICK_TAKEN || !is_first(watch))
        return false;
    atomic_store_explicit(&watch->first_tick, FIRST_TICK_TAKEN, memory_order_release);
    sampler_wake();
    return true;
}

/* A thread found by a scan that then tells of itself changes its slot; a tick for the one before
 * may be on its way when another thread has that already. */
SIGNAL_SAFE_INLINE bool is_own(const struct watch *watch)
{
    return watch->tid == sys_gettid();
}

SIGNAL_SAFE_INLINE void tick(uint32_t slot, const siginfo_t *info, const ucontext_t *context)
{
    struct watch *watch = &sampler.threads.watches[slot];
    struct feed_status *status;
    const struct code_map *map;
    uint32_t group;

    if (!slot || atomic_load_explicit(&watch->state, memory_order_acquire) != WATCH_ARMED ||
        !is_own(watch) || wall_tick_is_stale(watch, info) || !is_due(watch))
        return;
    status = &sampler.segment.header->status;
    count(&status->ticks, 1);
    if (info->si_code == SI_TIMER && info->si_overrun > 0)
        count(&status->lost[FEED_LOSS_OVERRUN], (uint64_t)info->si_overrun);
    map = code_map_enter(&sampler.modules.maps, &group);
    if (map) {
        take_sample(slot, watch, map, context);
    } else {
        count(&status->lost[FEED_LOSS_NO_TABLES], 1);
        sampler_modules_unknown();
    }
    code_map_leave(&sampler.modules.maps, group);
}

void handler_tick(int number, siginfo_t *info, void *context)
{
    uint32_t slot = threads_slot_of_tick(&sampler.threads, info);

    tick(slot, info, context);
    if (slot || program_action_run(number, info, context))
        return;
    /* Somebody else sent it. A tick that came too late has a code of the kernel's. */
    if (number != SIGURG && (info->si_code == SI_USER || info->si_code == SI_TKILL))
        tick_signal_default(number);
}

void handler_trap(int number, siginfo_t *info, void *context)
{
    uint32_t slot = timer_slot_of_trap(info);

    if (slot && slot < FEED_THREADS_MAX)
        tick(slot, info, context);
    else if (!program_action_run(number, info, context))
        tick_signal_default(number);
}
