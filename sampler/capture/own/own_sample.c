#include "own_sample.h"

#include "followed.h"

#include "../forked.h"
#include "../system/arch.h"
#include "../tend.h"
#include "../tick_stack.h"

#include "../../feed/feed_count.h"
#include "../../feed/sys.h"

#include <signal.h>

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

SIGNAL_SAFE_INLINE void count(enum feed_kind kind, bool kept)
{
    struct feed_status *status = &sampler.writer.header->status;

    if (kind == FEED_KIND_ALLOCATION)
        feed_count(kept ? &status->allocations : &status->allocations_lost, 1);
    else
        feed_count(kept ? &status->waits_sampled : &status->waits_lost, 1);
}

static SIGNAL_SAFE bool put(struct capture *place, struct own_sample *sample)
{
    const struct capture_registers registers = { sample->context, sample->roomy };
    const struct sample_weight weight = { .cpu_ns = sample->amount, .state = FEED_STATE_RUNNING };
    bool follows = sample->kind == FEED_KIND_ALLOCATION, kept;

    if (follows)
        sample->words.allocation.mark = followed_begin(sample->address, sample->level);
    place->words = sample->words;
    kept = capture(place, &weight, &registers);
    if (!kept && follows && sample->words.allocation.mark)
        followed_end(sample->address);
    return kept;
}

static SIGNAL_SAFE void keep(void *given)
{
    struct own_sample *sample = given;
    struct capture place;

    if (sample->roomy)
        tend_at_tick(); /* none may have come yet, and no code be known */
    count(sample->kind, capture_begin(&place, sample->kind, sample->slot) && put(&place, sample));
}

static SIGNAL_SAFE void take(struct own_sample *sample)
{
    void *stack;

    sample->slot = threads_slot_of_tick(&sampler.threads, sampler.pid);
    if (!sample->slot) {
        count(sample->kind, false);
        return;
    }
    sys_call2(SYS_sigaltstack, NULL, &sample->context->uc_stack);
    stack = tick_stack_take();
    sample->roomy = stack != NULL;
    if (!stack) {
        keep(sample);
        return;
    }
    arch_call_on(stack, keep, sample);
    tick_stack_give(stack);
}

/* As a tick does: who stops the sampler waits for those that saw it run. */
void own_sample_take(struct own_sample *sample)
{
    uint64_t mask = block_signals();

    atomic_fetch_add_explicit(&sampler.handlers, 1, memory_order_seq_cst);
    if (atomic_load(&sampler.running) != RUN_STOPPED) {
        forked_begin_at_tick();
        if (own_sample_is_possible())
            take(sample);
    }
    atomic_fetch_sub_explicit(&sampler.handlers, 1, memory_order_release);
    unblock_signals(mask);
}
