#include "announce.h"

#include "event_epoch.h"
#include "own_rates.h"
#include "page_faults.h"
#include "sampler_state.h"
#include "scan_memory.h"
#include "system/clock.h"

#include "../feed/sys.h"

#include <limits.h>
#include <linux/futex.h>
#include <string.h>

enum {
    OWN_LOOKS = 50,
    /* A service that is there and has not looked for so long has given the feed up. */
    STANDS_STILL_MAX_US = 60 * 1000 * 1000,
};

static int64_t announced_us;

int announce_feed(int *memfd, int64_t start_us, uint32_t period_us, bool enabled)
{
    int error;

    sampler.pid = (int32_t)sys_call0(SYS_getpid);
    error = feed_writer_create(&sampler.writer, memfd, sampler.pid, start_us);
    if (error)
        return error;
    scan_memory_forget();
    sampler.threads.writer = &sampler.writer;
    sampler.named.writer = &sampler.writer;
    sampler.writer.header->named_code = (uint64_t)&sampler.named;
    atomic_store(&sampler.writer.header->control.period_us, period_us);
    atomic_store(&sampler.writer.header->control.enabled, enabled);
    atomic_store(&sampler.writer.header->control.watch_loops, atomic_load(&sampler.watch_loops));
    atomic_store(&sampler.writer.header->control.depth_max, FEED_DEPTH_DEFAULT);
    announced_us = clock_kernel_us();
    atomic_store(&sampler.writer.header->control.reader_us, announced_us); /* patience until then */
    return 0;
}

static SIGNAL_SAFE void close_descriptor(int fd)
{
    if (fd >= 0)
        sys_call1(SYS_close, fd);
}

int announce_hello(int uplink, enum feed_origin origin, int memfd)
{
    struct feed_control *control = &sampler.writer.header->control;
    bool runs = atomic_load(&control->enabled);
    int clock = threads_open_clock(&sampler.threads, control->period_us, runs), error;
    int faults = page_faults_open(clock >= 0);

    atomic_store(&control->clock_runs, clock >= 0 && runs);
    threads_report(&sampler.threads);
    error = uplink_hello(&sampler.address, uplink, origin,
                         (struct uplink_feed){ memfd, clock, faults });
    close_descriptor(memfd);
    close_descriptor(clock);
    close_descriptor(faults);
    return error;
}

/* ---- another service ---- */

/* Of other threads; a tick waits for them a moment only. */
static SIGNAL_SAFE bool handlers_have_left(void)
{
    for (int looks = 0; looks < OWN_LOOKS; looks++) {
        if (atomic_load(&sampler.handlers) == 1)
            return true;
        sys_call0(SYS_sched_yield);
    }
    return false;
}

/* The feed before this one: it goes at the next time, for a thread that is just being told of may
 * still write there. */
static struct feed_writer left;

void announce_forget_parent(void)
{
    memset(&left, 0, sizeof left);
}

/* All that stood in the feed before, in one that is new. */
static SIGNAL_SAFE bool move_to_new_feed(int *memfd)
{
    const struct feed_control before = sampler.writer.header->control;
    struct feed_writer old = sampler.writer;

    sampler_follow_watch();
    if (announce_feed(memfd, clock_now_us(), before.period_us, before.enabled) < 0) {
        sampler.writer = old;
        return false;
    }
    atomic_store(&sampler.writer.header->control.depth_max, before.depth_max);
    atomic_store(&sampler.writer.header->status.timer_period_us, sampler.threads.timer_us);
    feed_writer_destroy(&left);
    left = old;
    threads_enter_feed(&sampler.threads);
    modules_forget_tables(&sampler.modules, &sampler.writer);
    sampler_open_tables();
    modules_announce(&sampler.modules, &sampler.writer);
    return true;
}

/* Whoever waits in the feed that is left goes on in the new one. */
static SIGNAL_SAFE void wake_sleepers(struct feed_header *header)
{
    atomic_fetch_add(&header->control.pings, 1);
    sys_futex(&header->control.pings, FUTEX_WAKE, INT_MAX, NULL);
}

void announce_leave_feed(void)
{
    feed_writer_destroy(&left);
    left = sampler.writer;
    memset(&sampler.writer, 0, sizeof sampler.writer);
}

/* The service has read the feed, is still there, and will go on with it. */
static SIGNAL_SAFE bool only_stands_still(void)
{
    int64_t reader_us = atomic_load(&sampler.writer.header->control.reader_us);

    return reader_us != announced_us && clock_kernel_us() - reader_us < STANDS_STILL_MAX_US &&
           shared_tables_are_still(&sampler.modules.tables, sampler.address.tables);
}

void announce_again(void)
{
    uint32_t moving = RUN_MOVING;
    bool moved = false;
    int uplink, memfd;

    if (only_stands_still())
        return;
    uplink = uplink_connect(&sampler.address);
    if (uplink < 0)
        return;
    atomic_store(&sampler.running, RUN_MOVING); /* for other threads' ticks */
    if (handlers_have_left() && move_to_new_feed(&memfd)) {
        announce_hello(uplink, FEED_ORIGIN_EXEC, memfd);
        moved = true;
    } else {
        close_descriptor(uplink);
    }
    /* Unless the program has stopped the sampler, without the lock. */
    if (!atomic_compare_exchange_strong(&sampler.running, &moving, RUN_ON) || !moved)
        return;
    event_epoch_begin();
    own_rates_begin();
    wake_sleepers(left.header);
}
