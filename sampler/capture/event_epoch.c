#include "event_epoch.h"

#include "sampler_state.h"

#include "../feed/sys.h"
#include "../include/isoscope/isoscope.h"
#include "system/pages.h"

#include <linux/membarrier.h>
#include <time.h>

enum { PAGE_BYTES = 4096, LOOK_NS = 20 * 1000, LOOKS = 20000 };

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

ISOSCOPE_API uint64_t isoscope_streams;

static _Atomic uint32_t none;
_Atomic(_Atomic uint32_t *) event_epoch_word = &none;
static _Atomic uint32_t epochs; /* given out */
static _Atomic uint32_t now;    /* the one in force; in a child that was forked without libc, too */

static SIGNAL_SAFE void store_streams(uint64_t streams)
{
    __atomic_store_n(&isoscope_streams, streams, __ATOMIC_RELAXED);
}

static SIGNAL_SAFE void store_epoch(uint32_t epoch)
{
    _Atomic uint32_t *word = atomic_load(&event_epoch_word);

    atomic_store(&now, epoch);
    if (word != &none)
        atomic_store(word, epoch);
}

void event_epoch_begin(void)
{
    uint32_t epoch = atomic_fetch_add(&epochs, 1) + 1;

    store_epoch(epoch ? epoch : atomic_fetch_add(&epochs, 1) + 1);
    event_epoch_follow(true);
}

void event_epoch_end(void)
{
    store_streams(0);
    store_epoch(0);
}

void event_epoch_follow(bool read)
{
    if (!atomic_load(&now))
        return;
    store_streams(
        read ? atomic_load_explicit(&sampler.writer.header->control.streams, memory_order_relaxed)
             : 0);
}

/* The kernel's pages may be larger. */
bool event_epoch_reach(void)
{
    _Atomic uint32_t *word = &none, *made;

    if (atomic_load(&event_epoch_word) != &none)
        return true;
    made = pages_new(PAGE_BYTES);
    if (!made)
        return false;
    if (sys_call3(SYS_madvise, made, PAGE_BYTES, MADV_WIPEONFORK) < 0 ||
        !atomic_compare_exchange_strong(&event_epoch_word, &word, made))
        pages_free(made, PAGE_BYTES);
    else
        atomic_store(made, atomic_load(&now));
    return atomic_load(&event_epoch_word) != &none;
}

/* ---- the end ---- */

/* A thread marks its write before it looks at the epoch, without a barrier: this is for both. */
static bool barrier_in_all_threads(void)
{
    return sys_call3(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0;
}

static bool none_writes(const struct threads *threads)
{
    uint32_t used = atomic_load(&threads->used);

    for (uint32_t slot = 1; slot < used; slot++)
        if (atomic_load(&threads_at(threads, slot)->event_busy.write))
            return false;
    return true;
}

bool event_epoch_is_left(const struct threads *threads)
{
    const struct timespec moment = { 0, LOOK_NS };

    if (atomic_load(&event_epoch_word) == &none)
        return true; /* there has never been an event */
    if (!barrier_in_all_threads())
        return false;
    for (int looks = 0; looks < LOOKS; looks++) {
        if (none_writes(threads))
            return true;
        sys_call2(SYS_nanosleep, &moment, 0);
    }
    return false;
}
