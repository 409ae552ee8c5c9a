/*
 * allocations.c - isoscope/memory.h: one of many allocations, its stack, and its address.
 *
 *   a wrapped call (sampler/allocators), or the program -> here -> capture -> ring
 *                                                              -> feed_allocations
 *
 * All signals are blocked meanwhile, so that what is done here is done as in a tick.
 */
#include "chance.h"

#include "../allocation_rate.h"
#include "../capture.h"
#include "../forked.h"
#include "../sampler_state.h"
#include "../system/arch.h"
#include "../system/clock.h"
#include "../tick_stack.h"

#include "../../feed/feed_allocations.h"
#include "../../feed/feed_count.h"
#include "../../feed/sys.h"
#include "../../include/isoscope/memory.h"

#include <signal.h>

/* Where nothing is sampled it may be soon, by a sampler that starts just now. */
enum { STEP_BYTES = 1 << 20, REST_BYTES = 64 * 1024 };

static _Atomic uint64_t numbers; /* given out */

struct allocation {
    uint64_t address, bytes, mean_bytes;
    ucontext_t *context;
    uint32_t slot;
    bool roomy;
};

SIGNAL_SAFE_INLINE struct feed_status *status(void)
{
    return &sampler.writer.header->status;
}

SIGNAL_SAFE_INLINE uint64_t block_signals(void)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t before = 0;

    sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof all);
    return before;
}

SIGNAL_SAFE_INLINE void unblock_signals(uint64_t before)
{
    sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
}

/* A forked child's memory is its parent's until it begins; one made without libc never does. */
SIGNAL_SAFE_INLINE bool is_own(void)
{
    return sampler_running() && sampler.pid == (int32_t)sys_call0(SYS_getpid);
}

/* First into the table: the service looks there when it has the sample. */
static SIGNAL_SAFE uint64_t follow(uint64_t address)
{
    uint64_t number = atomic_fetch_add_explicit(&numbers, 1, memory_order_relaxed) + 1;
    uint64_t mark;

    allocation_rate_count(address, true);
    mark = feed_allocations_put(&sampler.writer, address, number);
    if (!mark) {
        allocation_rate_count(address, false);
        feed_count(&status()->allocations_loose, 1);
    }
    return mark;
}

static SIGNAL_SAFE void forget(uint64_t address)
{
    if (feed_allocations_take(&sampler.writer, address))
        allocation_rate_count(address, false);
}

/* The service looks ten times a second, which is too seldom for a program that does little else. */
SIGNAL_SAFE_INLINE void ask_in_time(const struct ring_writer *ring)
{
    if (atomic_load_explicit(ring->head, memory_order_relaxed) -
            atomic_load_explicit(ring->tail, memory_order_relaxed) >
        ring->size_bytes / 8)
        sampler_ask_service();
}

static SIGNAL_SAFE void keep(void *given)
{
    const struct allocation *allocation = given;
    const struct capture_registers registers = { allocation->context, allocation->roomy };
    const struct sample_weight weight = { .cpu_ns = allocation->bytes,
                                          .state = FEED_STATE_RUNNING };
    struct capture place;
    bool kept;

    if (allocation->roomy)
        tend_at_tick(); /* none may have come yet, and no code be known */
    kept = capture_begin(&place, FEED_KIND_ALLOCATION, allocation->slot);

    if (kept) {
        place.allocation = (struct feed_allocation_words){ .mean_bytes = allocation->mean_bytes,
                                                           .mark = follow(allocation->address) };
        kept = capture(&place, &weight, &registers);
        if (!kept && place.allocation.mark)
            forget(allocation->address);
        ask_in_time(&place.ring);
    }
    feed_count(kept ? &status()->allocations : &status()->allocations_lost, 1);
}

static SIGNAL_SAFE void sample(struct allocation *allocation)
{
    void *stack;

    allocation->slot = threads_slot_of_tick(&sampler.threads, sampler.pid);
    if (!allocation->slot) {
        feed_count(&status()->allocations_lost, 1);
        return;
    }
    sys_call2(SYS_sigaltstack, NULL, &allocation->context->uc_stack);
    stack = tick_stack_take();
    allocation->roomy = stack != NULL;
    if (!stack) {
        keep(allocation);
        return;
    }
    arch_call_on(stack, keep, allocation);
    tick_stack_give(stack);
}

/* As a tick does: who stops the sampler waits for those that saw it run. */
static SIGNAL_SAFE void enter(struct allocation *allocation)
{
    uint64_t mask = block_signals();

    atomic_fetch_add_explicit(&sampler.handlers, 1, memory_order_seq_cst);
    if (atomic_load(&sampler.running) != RUN_STOPPED) {
        forked_begin_at_tick();
        if (is_own())
            sample(allocation);
    }
    atomic_fetch_sub_explicit(&sampler.handlers, 1, memory_order_release);
    unblock_signals(mask);
}

/* A step at a time, so that a change is noticed soon. */
static SIGNAL_SAFE void set_left(struct isoscope_memory_thread *thread, int64_t bytes)
{
    thread->left = bytes < STEP_BYTES ? bytes : STEP_BYTES;
    thread->rest = bytes - thread->left;
}

static SIGNAL_SAFE void draw(struct isoscope_memory_thread *thread)
{
    set_left(thread, chance_bytes(&thread->random, thread->mean_bytes));
}

/* What was left is of no use any more, and the allocation at hand is the first. */
static SIGNAL_SAFE void begin_epoch(struct isoscope_memory_thread *thread, uint32_t epoch,
                                    size_t bytes)
{
    if (!thread->random)
        thread->random = clock_ns(CLOCK_MONOTONIC) ^ (uint64_t)sys_gettid() << 40;
    thread->epoch = epoch;
    thread->mean_bytes = allocation_rate_mean();
    draw(thread);
    thread->left -= (int64_t)bytes;
}

/* False: the next one to be sampled is not reached. */
SIGNAL_SAFE_INLINE bool is_reached(struct isoscope_memory_thread *thread)
{
    if (thread->left + thread->rest < 0)
        return true;
    set_left(thread, thread->left + thread->rest);
    return false;
}

/* Where nothing is sampled. */
SIGNAL_SAFE_INLINE void rest(struct isoscope_memory_thread *thread)
{
    thread->epoch = 0;
    thread->left = REST_BYTES;
    thread->rest = 0;
}

static SIGNAL_SAFE __attribute__((noinline)) void sample_here(struct isoscope_memory_thread *thread,
                                                              const void *address, size_t bytes)
{
    ucontext_t context;
    struct allocation allocation = { .address = (uint64_t)address,
                                     .bytes = bytes,
                                     .mean_bytes = thread->mean_bytes,
                                     .context = &context };

    arch_here(&context);
    enter(&allocation);
    draw(thread);
}

SIGNAL_SAFE void isoscope_memory_sample(struct isoscope_memory_thread *thread, const void *address,
                                        size_t bytes)
{
    uint32_t epoch = atomic_load_explicit(&allocation_epoch, memory_order_relaxed);

    if (!epoch) {
        rest(thread);
        return;
    }
    if (thread->busy)
        return; /* a handler of the program's, in the middle of this */
    thread->busy = 1;
    if (thread->epoch != epoch)
        begin_epoch(thread, epoch, bytes);
    if (is_reached(thread)) {
        if (address)
            sample_here(thread, address, bytes);
        else
            draw(thread);
    }
    thread->busy = 0;
}

SIGNAL_SAFE uint64_t isoscope_memory_gone(const void *address)
{
    uint64_t mark = 0;

    atomic_fetch_add_explicit(&sampler.handlers, 1, memory_order_seq_cst);
    if (is_own())
        mark = feed_allocations_take(&sampler.writer, (uint64_t)address);
    if (mark)
        allocation_rate_count((uint64_t)address, false);
    atomic_fetch_sub_explicit(&sampler.handlers, 1, memory_order_release);
    return mark;
}

SIGNAL_SAFE void isoscope_memory_kept(const void *address, uint64_t mark)
{
    if (!mark)
        return;
    atomic_fetch_add_explicit(&sampler.handlers, 1, memory_order_seq_cst);
    if (is_own()) {
        allocation_rate_count((uint64_t)address, true);
        feed_allocations_put_back(&sampler.writer, (uint64_t)address, mark);
    }
    atomic_fetch_sub_explicit(&sampler.handlers, 1, memory_order_release);
}
