#include "sampler.h"

#include "sampler_signals.h"
#include "sampler_thread.h"
#include "standstill.h"
#include "system/clock.h"
#include "threads/cpu_timer.h"
#include "wall/thread_choice.h"
#include "wall/wall.h"

#include "../feed/sys.h"
#include "../include/isoscope/isoscope.h"

#include <linux/futex.h>
#include <string.h>
#include <time.h>

enum { REST_WAIT_NS = 100 * 1000 * 1000 }; /* a fork waits so long at most */

/* What is large in it is made when it starts: static memory is read by programs' collectors. */
struct sampler sampler;

void sampler_wake(void)
{
    struct feed_control *control = &sampler.segment.header->control;

    atomic_fetch_add_explicit(&control->wake, 1, memory_order_release);
    sys_futex(&control->wake, FUTEX_WAKE, 1, NULL);
}

void sampler_note_cpu_time(void)
{
    atomic_store_explicit(&sampler.segment.header->status.cpu_ns,
                          clock_ns(CLOCK_PROCESS_CPUTIME_ID), memory_order_relaxed);
}

void sampler_modules_unknown(void)
{
    if (!atomic_exchange_explicit(&sampler.modules_unknown, 1, memory_order_relaxed))
        sampler_wake();
}

void sampler_modules_told(bool unload)
{
    if (!sampler_running())
        return;
    if (unload)
        atomic_fetch_add_explicit(&sampler.modules.maps.unloads, 1, memory_order_release);
    if (!atomic_exchange_explicit(&sampler.modules_told, 1, memory_order_relaxed))
        sampler_wake();
}

bool sampler_running(void)
{
    return atomic_load_explicit(&sampler.running, memory_order_acquire) == RUN_ON &&
           sampler.pid == (int32_t)sys_call0(SYS_getpid);
}

/* A lock between our thread and a forking one. A fork that cannot have it in time goes on without:
 * its child then builds everything anew. */
bool sampler_rest_lock(bool forever)
{
    struct timespec wait = { 0, REST_WAIT_NS };

    for (int tries = 0; atomic_exchange_explicit(&sampler.resting, 1, memory_order_acquire);
         tries++) {
        if (tries && !forever)
            return false;
        sys_futex(&sampler.resting, FUTEX_WAIT_PRIVATE, 1, forever ? NULL : &wait);
    }
    return true;
}

void sampler_rest_unlock(void)
{
    atomic_store_explicit(&sampler.resting, 0, memory_order_release);
    sys_futex(&sampler.resting, FUTEX_WAKE_PRIVATE, 1, NULL);
}

static int make_segment(uint32_t period_us, bool enabled)
{
    int error;

    sampler.pid = (int32_t)sys_call0(SYS_getpid);
    error = segment_create(&sampler.segment, &sampler.memfd, sampler.pid, clock_now_us());
    if (error)
        return error;
    sampler.threads.segment = &sampler.segment;
    sampler.named.segment = &sampler.segment;
    thread_choice_forget();
    atomic_store(&sampler.segment.header->control.period_us, period_us);
    atomic_store(&sampler.segment.header->control.enabled, enabled);
    atomic_store(&sampler.segment.header->control.depth_max, FEED_DEPTH_DEFAULT);
    return 0;
}

static void give_segment_back(void)
{
    sys_call1(SYS_close, sampler.memfd);
    segment_destroy(&sampler.segment);
    sampler.memfd = sampler.uplink = -1;
}

static void close_root(int root)
{
    if (root >= 0)
        sys_call1(SYS_close, root);
}

/* Says hello and starts the thread, which takes the descriptors along in its own table. */
static int go(enum feed_origin origin)
{
    int memfd = sampler.memfd, root = sampler.threads.root;
    int uplink = uplink_hello(&sampler.address, origin, memfd, root);
    int error = uplink < 0 ? uplink : 0;

    if (!error) {
        sampler.uplink = uplink;
        atomic_store_explicit(&sampler.running, RUN_ON, memory_order_release);
        error = raw_thread_start(&sampler.thread, sampler_thread_body, NULL) ? -ISOSCOPE_SYSTEM : 0;
        sys_call1(SYS_close, uplink);
    }
    sys_call1(SYS_close, memfd);
    close_root(root);
    if (error) {
        atomic_store_explicit(&sampler.running, RUN_STOPPED, memory_order_release);
        sampler.threads.root = -1;
        segment_destroy(&sampler.segment);
        sampler.memfd = sampler.uplink = -1;
    }
    return error;
}

bool sampler_restart_thread(void)
{
    if (raw_thread_start(&sampler.thread, sampler_thread_body, NULL) == 0)
        return true;
    atomic_store_explicit(&sampler.running, RUN_WITHOUT_THREAD, memory_order_release);
    if (sampler.uplink >= 0)
        uplink_goodbye(sampler.uplink);
    return false;
}

/* With the clock that all its threads to come inherit. */
static uint32_t take_caller(uint32_t period_us, const struct stack_range *stack)
{
    struct threads *threads = &sampler.threads;

    threads->timer_us = cpu_timer_period_us();
    threads_open_root(threads, period_us);
    return threads_take(threads, sys_gettid(), stack, false);
}

int sampler_start(const struct sampler_start_options *options, const struct stack_range *stack,
                  uint32_t *slot)
{
    int error;

    if (sampler_running())
        return 0;
    error = make_segment(options->period_us, options->enabled);
    if (error)
        return error;
    sampler.address = options->address;
    error = threads_new(&sampler.threads);
    if (!error && !sampler.modules.files)
        error = modules_new(&sampler.modules);
    if (error) {
        give_segment_back();
        return error;
    }
    modules_announce(&sampler.modules, &sampler.segment);
    sampler.threads.rights = (struct clock_rights){ .wish = (uint8_t)options->timer };
    sampler_signals_take();
    *slot = take_caller(options->period_us, stack);
    threads_count_from_now(&sampler.threads, *slot);
    return go(FEED_ORIGIN_EXEC);
}

void sampler_stop(void)
{
    if (!sampler_running())
        return;
    atomic_store_explicit(&sampler.running, RUN_STOPPED, memory_order_release);
    sampler_wake();
    raw_thread_join(&sampler.thread);
    segment_destroy(&sampler.segment);
    sampler.uplink = sampler.memfd = sampler.threads.root = -1;
}

/* Whether this thread's fork holds the rest lock; forks of several threads overlap. */
static __thread bool fork_rests;

void sampler_fork_prepare(void)
{
    fork_rests = sampler_running() && sampler_rest_lock(false);
}

void sampler_fork_parent(void)
{
    if (fork_rests)
        sampler_rest_unlock();
    fork_rests = false;
}

/* Only the forking thread came along, and none of our timers and descriptors. */
static void forget_parent(void)
{
    wall_forget_parent();
    threads_forget_parent(&sampler.threads);
    raw_thread_forget(&sampler.thread);
    /* Handlers of the parent's other threads were counted in when the memory was copied. */
    atomic_store(&sampler.modules.maps.readers[0], 0);
    atomic_store(&sampler.modules.maps.readers[1], 0);
    atomic_store(&sampler.running, RUN_STOPPED);
    atomic_store(&sampler.resting, 0);
    atomic_store(&sampler.handlers, 0);
    standstill_forget();
    memset(&sampler.segment, 0, sizeof sampler.segment); /* its memory stayed in the parent */
}

uint32_t sampler_fork_child(uint32_t old_slot)
{
    /* The parent's segment, with the settings in it, is not mapped here. */
    uint32_t period_us = sampler.threads.period_us;
    struct stack_range stack;
    bool whole = fork_rests;
    uint32_t slot;

    fork_rests = false;
    if (!atomic_load(&sampler.running))
        return 0;
    stack = threads_watch(&sampler.threads, old_slot)->stack;
    forget_parent();
    if ((!whole && modules_new(&sampler.modules) < 0) ||
        make_segment(period_us ? period_us : FEED_PERIOD_DEFAULT_US, period_us != 0) < 0)
        return 0;
    modules_announce(&sampler.modules, &sampler.segment);
    slot = take_caller(period_us ? period_us : FEED_PERIOD_DEFAULT_US, &stack);
    return go(FEED_ORIGIN_FORK) == 0 ? slot : 0;
}
