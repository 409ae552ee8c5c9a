/*
 * waits.c - isoscope/locks.h: one of many waits, its stack, and what was waited for.
 *
 *   a wrapped call (sampler/interpose), or the program -> here -> own_sample
 */
#include "countdown.h"
#include "own_sample.h"

#include "../own_rates.h"
#include "../system/arch.h"

#include "../../feed/feed_count.h"
#include "../../include/isoscope/locks.h"

#include <dlfcn.h>

static_assert((int)ISOSCOPE_WAIT_FUTEX == (int)FEED_WAIT_FUTEX &&
                  (int)ISOSCOPE_WAIT_CONDITION == (int)FEED_WAIT_CONDITION,
              "the feed's numbers");

static __thread struct isoscope_memory_thread countdown;

static SIGNAL_SAFE bool is_lock(enum isoscope_wait what)
{
    return what < ISOSCOPE_WAIT_CONDITION;
}

/* glibc's since 2.35: lock-free, and for all that the loader has mapped of an object. */
extern int _dl_find_object(void *address, struct dl_find_object *out) __attribute__((weak));

static SIGNAL_SAFE void find_object(struct feed_wait_words *words)
{
    struct dl_find_object object;

    if (!_dl_find_object || _dl_find_object((void *)words->lock, &object))
        return;
    words->start = (uint64_t)object.dlfo_map_start;
    words->end = (uint64_t)object.dlfo_map_end;
}

/* Exact, of what the sampled ones are an estimate. */
static SIGNAL_SAFE void count_lock(uint64_t waited_ns)
{
    struct feed_status *status;

    if (!sampler_enter())
        return;
    status = &sampler.writer.header->status;
    feed_count(&status->lock_waits, 1);
    feed_count(&status->lock_ns, waited_ns);
    sampler_leave();
}

static SIGNAL_SAFE __attribute__((noinline)) void sample_here(struct feed_wait_words *words,
                                                              uint64_t waited_ns)
{
    ucontext_t context;
    struct own_sample sample = { .kind = is_lock((enum isoscope_wait)words->what) ? FEED_KIND_LOCK
                                                                                  : FEED_KIND_WAIT,
                                 .amount = waited_ns,
                                 .context = &context };

    find_object(words);
    sample.words.wait = *words;
    arch_here(&context);
    own_sample_take(&sample);
    countdown_draw(&countdown);
}

SIGNAL_SAFE uint64_t isoscope_wait_clock(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

SIGNAL_SAFE void isoscope_wait_over(uint64_t began_ns, enum isoscope_wait what, const void *lock,
                                    int holder)
{
    uint32_t epoch = __atomic_load_n(&isoscope_waits_wanted, __ATOMIC_RELAXED);
    uint64_t waited_ns = clock_ns(CLOCK_MONOTONIC) - began_ns;

    if (!epoch || countdown.busy)
        return; /* busy: a handler of the program's, in the middle of this */
    countdown.busy = 1;
    if (is_lock(what))
        count_lock(waited_ns);
    if (countdown.epoch == epoch)
        countdown.left -= (int64_t)waited_ns;
    else
        countdown_begin(&countdown, epoch, own_rates_mean_ns(), waited_ns);
    if (countdown.left < 0 && countdown_is_reached(&countdown)) {
        struct feed_wait_words words = { .mean_ns = countdown.mean_bytes,
                                         .lock = (uint64_t)lock,
                                         .holder = holder,
                                         .what = (uint32_t)what };

        sample_here(&words, waited_ns);
    }
    countdown.busy = 0;
}
