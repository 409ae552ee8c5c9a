/*
 * allocations.c - isoscope/memory.h: one of many allocations, its stack, and its address.
 *
 *   a wrapped call (sampler/interpose), or the program -> here -> own_sample
 *                                                     -> followed -> the feed's table
 */
#include "countdown.h"
#include "followed.h"
#include "own_sample.h"

#include "../own_rates.h"
#include "../system/arch.h"

static SIGNAL_SAFE __attribute__((noinline)) void sample_here(struct isoscope_memory_thread *thread,
                                                              const void *address, size_t bytes)
{
    ucontext_t context;
    struct own_sample sample = { .kind = FEED_KIND_ALLOCATION,
                                 .amount = bytes,
                                 .words.allocation.mean_bytes = thread->mean_bytes,
                                 .address = (uint64_t)address,
                                 .level = countdown_level(thread, bytes),
                                 .context = &context };

    arch_here(&context);
    own_sample_take(&sample);
    countdown_draw(thread);
}

SIGNAL_SAFE void isoscope_memory_sample(struct isoscope_memory_thread *thread, const void *address,
                                        size_t bytes)
{
    uint32_t epoch = __atomic_load_n(&own_rates_epoch, __ATOMIC_RELAXED);

    if (!epoch) {
        countdown_rest(thread);
        return;
    }
    if (thread->busy)
        return; /* a handler of the program's, in the middle of this */
    thread->busy = 1;
    if (thread->epoch != epoch)
        countdown_begin(thread, epoch, own_rates_mean_bytes(), bytes);
    if (countdown_is_reached(thread)) {
        if (address)
            sample_here(thread, address, bytes);
        else
            countdown_draw(thread);
    }
    thread->busy = 0;
}

SIGNAL_SAFE uint64_t isoscope_memory_gone(const void *address)
{
    uint64_t mark = 0;

    if (sampler_enter()) {
        mark = followed_end((uint64_t)address);
        sampler_leave();
    }
    return mark;
}

SIGNAL_SAFE void isoscope_memory_gone_between(const void *from, const void *to)
{
    if (!__atomic_load_n(&isoscope_memory_filter, __ATOMIC_ACQUIRE))
        return; /* nothing ever was sampled */
    atomic_fetch_add_explicit(&sampler.handlers, 1, memory_order_seq_cst);
    if (own_sample_is_possible())
        followed_end_between((uint64_t)from, (uint64_t)to);
    atomic_fetch_sub_explicit(&sampler.handlers, 1, memory_order_release);
}

SIGNAL_SAFE void isoscope_memory_kept(const void *address, uint64_t mark)
{
    if (!mark || !sampler_enter())
        return;
    followed_again((uint64_t)address, mark);
    sampler_leave();
}
