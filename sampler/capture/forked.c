#include "forked.h"

#include "announce.h"
#include "begin.h"
#include "event_epoch.h"
#include "fault_handler.h"
#include "own_rates.h"
#include "sampler_state.h"
#include "system/clock.h"
#include "threads/tasks.h"
#include "threads/user_clock.h"
#include "tick_stack.h"

#include "../feed/sys.h"

#include <string.h>
#include <sys/resource.h>

/* As the kernel has it. */
struct files_limit {
    uint64_t soft, hard;
};

/* Only the forking thread came along, and none of our timers and descriptors. */
static void forget_parent(void)
{
    threads_forget_parent(&sampler.threads);
    tick_stacks_forget_parent();
    fault_handler_forget_parent();
    /* Handlers of the parent's other threads were counted in when the memory was copied. */
    atomic_store(&sampler.modules.maps.readers[0], 0);
    atomic_store(&sampler.modules.maps.readers[1], 0);
    atomic_store(&sampler.running, RUN_STOPPED);
    atomic_store(&sampler.handlers, 0);
    memset(&sampler.writer, 0, sizeof sampler.writer); /* its memory stayed in the parent */
    announce_forget_parent();
}

/* The tables of a user are a file of his own: what is found there later is no place in the parent's. */
static SIGNAL_SAFE void forget_tables_of_another_user(void)
{
    uint32_t uid = (uint32_t)sys_call0(SYS_geteuid);

    if (uid == sampler.uid)
        return;
    sampler.uid = uid;
    modules_forget_tables(&sampler.modules, &sampler.writer);
}

static SIGNAL_SAFE bool announce_child(uint32_t period_us, bool enabled, int *memfd)
{
    if (announce_feed(memfd, sampler.forked_us, period_us, enabled) < 0) {
        event_epoch_end();
        own_rates_end();
        threads_disarm_child(&sampler.threads);
        return false;
    }
    atomic_store(&sampler.writer.header->status.timer_period_us, sampler.threads.timer_us);
    threads_begin_child(&sampler.threads);
    tasks_own_name(&sampler.threads, CHILD_SLOT);
    forget_tables_of_another_user();
    modules_announce(&sampler.modules, &sampler.writer);
    return true;
}

/* A start takes three descriptors for a moment, and the parent may have left itself none. The child has
 * one thread yet: nothing else is opened meanwhile. */
static SIGNAL_SAFE bool raise_files(struct files_limit *before)
{
    struct files_limit raised;

    if (sys_call4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, before) < 0 ||
        before->soft >= before->hard)
        return false;
    raised = (struct files_limit){ before->hard, before->hard };
    return sys_call4(SYS_prlimit64, 0, RLIMIT_NOFILE, &raised, NULL) == 0;
}

/* With the lock. */
static SIGNAL_SAFE bool begin_child(uint32_t period_us, bool enabled)
{
    void *page = sampler.threads.clock_page;
    struct files_limit before;
    int memfd;
    bool begins, raised = raise_files(&before);

    atomic_store_explicit(&sampler.running, RUN_STOPPED, memory_order_release);
    sampler.threads.clock_page = NULL;
    begins =
        announce_child(period_us, enabled, &memfd) && begin_ticks(FEED_ORIGIN_FORK, memfd) == 0;
    if (raised)
        sys_call4(SYS_prlimit64, 0, RLIMIT_NOFILE, &before, NULL);
    user_clock_end_page(page);
    return begins;
}

static SIGNAL_SAFE void begin_if_forked(void)
{
    if (atomic_load(&sampler.running) == RUN_FORKED)
        begin_child(sampler_period_us(), true);
}

bool forked_has_not_begun(void)
{
    return atomic_load_explicit(&sampler.running, memory_order_acquire) == RUN_FORKED &&
           sampler.pid == (int32_t)sys_call0(SYS_getpid);
}

void forked_begin_at_tick(void)
{
    if (!forked_has_not_begun() || !sampler_try_lock())
        return;
    begin_if_forked();
    sampler_unlock();
}

void forked_begin(void)
{
    uint64_t mask;

    if (!forked_has_not_begun() || !sampler_lock(&mask))
        return;
    begin_if_forked();
    sampler_unlock_to(&mask);
}

static bool lacks_tables(void)
{
    return sampler_running() && !sampler.modules.tables.first_page;
}

bool forked_is_unsettled(void)
{
    return forked_has_not_begun() || lacks_tables();
}

void forked_settle(void)
{
    uint64_t mask;

    forked_begin();
    if (!lacks_tables() || !sampler_lock(&mask))
        return;
    sampler_open_tables();
    sampler_unlock_to(&mask);
}

bool forked_may_wait(void)
{
    const struct feed_control *control;

    if (forked_has_not_begun())
        return true;
    control = &sampler.writer.header->control;
    return sampler_ticks() && atomic_load_explicit(&control->changes, memory_order_relaxed) &&
           atomic_load_explicit(&control->enabled, memory_order_relaxed) &&
           atomic_load_explicit(&control->mode, memory_order_relaxed) == FEED_MODE_CPU;
}

/* The parent's feed, with the settings in it, is not mapped here. */
uint32_t forked_arm(uint32_t old_slot, bool whole, bool waits)
{
    uint32_t period_us = sampler.threads.period_us;
    bool enabled = period_us != 0;
    struct stack_range stack = threads_at(&sampler.threads, old_slot)->stack;

    forget_parent();
    if (!whole)
        modules_new(&sampler.modules);
    if (!enabled)
        period_us = FEED_PERIOD_DEFAULT_US;
    sampler.pid = (int32_t)sys_call0(SYS_getpid);
    sampler.forked_us = clock_now_us();
    sampler.before_ns = 0; /* its clock is new */
    if (!threads_arm_child(&sampler.threads, &stack, period_us, waits) || !waits)
        return begin_child(period_us, enabled) ? CHILD_SLOT : 0;
    atomic_store_explicit(&sampler.running, RUN_FORKED, memory_order_release);
    return CHILD_SLOT;
}
