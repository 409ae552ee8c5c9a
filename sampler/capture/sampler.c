#include "sampler.h"

#include "announce.h"
#include "begin.h"
#include "event_epoch.h"
#include "forked.h"
#include "handler.h"
#include "own_rates.h"
#include "sampler_signals.h"
#include "system/clock.h"
#include "system/glibc.h"
#include "threads/cpu_timer.h"
#include "threads/tasks.h"

#include "../feed/own_area.h"
#include "../feed/sys.h"

#include <string.h>
#include <time.h>

enum { HANDLER_LOOK_NS = 20 * 1000, HANDLER_LOOKS = 20000 };

/* With the clock that all its threads to come inherit. */
static uint32_t take_caller(const struct stack_range *stack)
{
    struct threads *threads = &sampler.threads;
    uint32_t slot;

    threads->timer_us = cpu_timer_period_us();
    atomic_store(&sampler.writer.header->status.timer_period_us, threads->timer_us);
    slot = threads_take(threads, sys_gettid(), stack, false);
    if (slot)
        tasks_own_name(threads, slot);
    return slot;
}

/* libc knows of those that it made; /proc of all, but it costs. A thread that neither tells of is
 * found when house is kept. */
static bool is_alone(void)
{
    return (&__libc_single_threaded && __libc_single_threaded) || tasks_alone();
}

int sampler_start(const struct sampler_start_options *options, const struct stack_range *stack,
                  uint32_t *slot)
{
    int error, memfd;

    if (sampler_has_ticks())
        return 0;
    own_area_reserve();
    atomic_store(&sampler.watch_loops, options->watch);
    error = announce_feed(&memfd, clock_kernel_us(), options->period_us, options->enabled);
    if (error)
        return error;
    sampler.address = options->address;
    sampler.uid = options->uid;
    error = threads_new(&sampler.threads);
    if (!error && !sampler.modules.file_count)
        modules_new(&sampler.modules);
    else if (!error) /* the start before was for another service, maybe */
        modules_forget_tables(&sampler.modules, &sampler.writer);
    if (error) {
        sys_call1(SYS_close, memfd);
        feed_writer_destroy(&sampler.writer);
        return error;
    }
    modules_announce(&sampler.modules, &sampler.writer);
    sampler.threads.rights = (struct clock_rights){ .wish = (uint8_t)options->timer };
    sampler_signals_take(handler_tick, handler_trap);
    tend_begin(); /* timers that are made from here on tick at once */
    *slot = take_caller(stack);
    if (!is_alone())
        tasks_take_all(&sampler.threads);
    threads_count_from_now(&sampler.threads, *slot);
    sampler.before_ns = options->late ? clock_kernel_ns(CLOCK_PROCESS_CPUTIME_ID) : 0;
    own_area_begin();
    return begin_ticks(FEED_ORIGIN_EXEC, memfd);
}

/* A tick in the middle of its work, perhaps without a processor just now, would make the call that
 * a filter ends the program for. */
static void wait_for_handlers(void)
{
    const struct timespec moment = { 0, HANDLER_LOOK_NS };

    for (int looks = 0; looks < HANDLER_LOOKS && atomic_load(&sampler.handlers); looks++)
        sys_call2(SYS_nanosleep, &moment, 0);
}

/* Ticks that come from now on do nothing. A tick that moves to another feed has the lock, and is
 * waited for; when that takes too long, it sees this at its end. False: it did not run. */
static bool stop_ticks(void)
{
    uint32_t before = atomic_load(&sampler.running);

    while (before == RUN_ON || before == RUN_MOVING)
        if (atomic_compare_exchange_weak(&sampler.running, &before, RUN_STOPPED)) {
            wait_for_handlers();
            return true;
        }
    return false;
}

static bool end(bool sandboxed)
{
    uint64_t mask;
    bool locks, ends;

    if (!sampler_has_ticks())
        return false;
    locks = sampler_lock(&mask);
    ends = stop_ticks();
    if (ends) {
        event_epoch_end();
        own_rates_end();
        sampler_note_cpu_time();
        threads_stop(&sampler.threads);
        atomic_fetch_add(&sampler.writer.header->status.lost[FEED_LOSS_SANDBOXED], sandboxed);
        atomic_store(&sampler.writer.header->status.stopped, 1);
    }
    if (locks)
        sampler_unlock_to(&mask);
    return ends;
}

/* Their threads mark them without saying so before. */
static bool has_loops(void)
{
    return atomic_load(&sampler.writer.header->status.loops_used) > 1;
}

void sampler_stop(void)
{
    if (!end(false))
        return;
    sampler_ask_service();
    /* Else a thread may still write there. */
    if (event_epoch_is_left(&sampler.threads) && !has_loops())
        feed_writer_destroy(&sampler.writer);
    else
        announce_leave_feed();
}

void sampler_stop_for_good(void)
{
    forked_settle(); /* to say so, and to be heard */
    if (end(true))
        sampler_await_clock_stop();
}

/* ---- forks ---- */

/* Whether this thread's fork holds the lock; forks of several threads overlap. */
static __thread bool fork_locks, fork_waits;
static __thread uint64_t fork_mask;

void sampler_fork_prepare(void)
{
    bool runs = sampler_has_ticks();

    fork_waits = runs && forked_may_wait();
    fork_locks = runs && sampler_lock(&fork_mask);
}

void sampler_fork_parent(void)
{
    if (fork_locks)
        sampler_unlock_to(&fork_mask);
    fork_locks = false;
}

uint32_t sampler_fork_child(uint32_t old_slot)
{
    uint32_t slot =
        atomic_load(&sampler.running) ? forked_arm(old_slot, fork_locks, fork_waits) : 0;

    atomic_store(&sampler.locked, 0);
    if (fork_locks)
        sampler_unlock_to(&fork_mask);
    fork_locks = false;
    return slot;
}
