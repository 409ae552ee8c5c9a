#include "sampler.h"

#include "clock.h"
#include "deaf.h"
#include "handler.h"
#include "standstill.h"
#include "tasks.h"
#include "thread_choice.h"
#include "tick_signal.h"
#include "wall.h"

#include "../feed/sys.h"
#include "../include/isoscope/isoscope.h"

#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum {
    ACTIVE_WAIT_US = 100 * 1000, /* while samples come */
    IDLE_WAIT_US = 1000 * 1000,  /* when the program sleeps */
    HOUSEKEEPING_US = 100 * 1000,
    RECONNECT_US = 1000 * 1000,
    READER_GONE_US = 10 * 1000 * 1000,
    UNKNOWN_WAIT_MIN_US = 2 * 1000, /* between two looks at the maps for the handlers' sake */
    UNKNOWN_WAIT_JIT_US = 20 * 1000,
    UNKNOWN_WAIT_MAX_US = 1000 * 1000,
    REST_WAIT_NS = 100 * 1000 * 1000, /* a fork waits so long at most */
    OLD_KERNEL_FDS = 65536,
    ROUND_JITTER =
        4, /* rounds come up to a period / 4 late, or they could run in step with a loop */
};

/* After dlopen is called, before it is done: look again after these times. */
static const int64_t dlopen_looks_us[] = { 200, 1000, 4000, 16000, 64000 };
enum { DLOPEN_LOOKS = sizeof dlopen_looks_us / sizeof dlopen_looks_us[0] };

/* All zeros at first: with one initializer its megabytes would stand in the file. */
struct sampler sampler;

/* What the thread remembers between two turns. */
struct turn {
    int64_t now_us;
    int64_t housekeeping_us, reconnect_us;
    int64_t dlopen_us;     /* when the last dlopen was heard of */
    uint32_t dlopen_looks; /* how many looks are done since */
    int64_t unknown_us, unknown_wait_us;
    uint64_t ticks_before;
    int64_t round_us, due_us; /* wall mode's next round, and when it is held; 0: there is none */
    uint32_t random;
    bool active;
    bool interrupts; /* this thread is the timer of the others */
};

void sampler_wake(void)
{
    struct feed_control *control = &sampler.segment.header->control;

    atomic_fetch_add_explicit(&control->wake, 1, memory_order_release);
    sys_futex(&control->wake, FUTEX_WAKE, 1, NULL);
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
    atomic_store_explicit(&sampler.loader_was_used, 1, memory_order_relaxed);
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

void sampler_yield_signal(int number)
{
    struct timespec wait = { 0, REST_WAIT_NS };
    uint32_t none = 0;

    if (number != sampler.threads.signal_number &&
        !(number == SIGTRAP && sampler.threads.rights.trap))
        return;
    /* Another thread may be in the middle of the same: then it is as good to wait with it. */
    atomic_compare_exchange_strong(&sampler.yielding, &none, (uint32_t)number);
    sampler_wake();
    sys_futex(&sampler.yielding, FUTEX_WAIT_PRIVATE, (uint32_t)number, &wait);
}

/* A lock between our thread and a forking one. A fork that cannot have it in time goes on without:
 * its child then builds everything anew. */
static bool rest_lock(bool forever)
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

static void rest_unlock(void)
{
    atomic_store_explicit(&sampler.resting, 0, memory_order_release);
    sys_futex(&sampler.resting, FUTEX_WAKE_PRIVATE, 1, NULL);
}

/* True: there is code now that was not, or the other way round. */
static bool refresh_modules(void)
{
    struct feed_status *status = &sampler.segment.header->status;
    bool changed;

    rest_lock(true);
    sampler.modules.loader_was_used |=
        atomic_load_explicit(&sampler.loader_was_used, memory_order_relaxed);
    changed = modules_refresh(&sampler.modules, &sampler.segment);
    modules_reclaim(&sampler.modules);
    rest_unlock();
    atomic_store_explicit(&status->modules_live, sampler.modules.image_count, memory_order_relaxed);
    atomic_store_explicit(&status->table_bytes, sampler.modules.table_bytes, memory_order_relaxed);
    return changed;
}

/* dlopen is heard of before it works, so it is followed by several looks. */
static void follow_dlopen(struct turn *turn)
{
    if (atomic_exchange_explicit(&sampler.modules_told, 0, memory_order_relaxed)) {
        turn->dlopen_us = turn->now_us;
        turn->dlopen_looks = 0;
        refresh_modules();
    }
    if (turn->dlopen_looks < DLOPEN_LOOKS &&
        turn->now_us >= turn->dlopen_us + dlopen_looks_us[turn->dlopen_looks]) {
        turn->dlopen_looks++;
        refresh_modules();
    }
}

/* Code that stays unknown (a JIT's that writes no perf map) is met again and again: then the looks
 * become rare. A JIT's that grows is followed, at leisure. */
static void follow_unknown(struct turn *turn)
{
    uint32_t files_before = sampler.modules.file_count;
    bool changed;

    if (!atomic_load_explicit(&sampler.modules_unknown, memory_order_relaxed) ||
        turn->now_us < turn->unknown_us + turn->unknown_wait_us)
        return;
    turn->unknown_us = turn->now_us;
    changed = refresh_modules();
    atomic_store_explicit(&sampler.modules_unknown, 0, memory_order_relaxed);
    if (sampler.modules.file_count != files_before)
        turn->unknown_wait_us = UNKNOWN_WAIT_MIN_US;
    else if (changed)
        turn->unknown_wait_us = UNKNOWN_WAIT_JIT_US;
    else if (turn->unknown_wait_us < UNKNOWN_WAIT_MAX_US)
        turn->unknown_wait_us *= 2;
}

static bool wants_wall(void)
{
    return atomic_load_explicit(&sampler.segment.header->control.mode, memory_order_relaxed) ==
           FEED_MODE_WALL;
}

static void set_true_period(uint32_t period_us)
{
    struct feed_status *status = &sampler.segment.header->status;
    uint32_t floor_us = wants_wall() ? FEED_WALL_PERIOD_MIN_US
                                     : timer_floor_us((enum feed_timer)atomic_load_explicit(
                                           &status->timer, memory_order_relaxed));

    atomic_store_explicit(&status->true_period_us, period_us > floor_us ? period_us : floor_us,
                          memory_order_relaxed);
}

/* What the service wants, as a period; 0: nothing, or nobody is there to want. */
static uint32_t wanted_period(const struct turn *turn)
{
    struct feed_control *control = &sampler.segment.header->control;
    uint32_t period_us = atomic_load_explicit(&control->period_us, memory_order_relaxed);
    int64_t reader_us = atomic_load_explicit(&control->reader_us, memory_order_relaxed);

    if (!atomic_load_explicit(&control->enabled, memory_order_relaxed) || sampler.uplink < 0 ||
        (reader_us && turn->now_us - reader_us > READER_GONE_US))
        return 0;
    if (period_us < FEED_PERIOD_MIN_US)
        return FEED_PERIOD_MIN_US;
    return period_us < FEED_PERIOD_MAX_US ? period_us : FEED_PERIOD_MAX_US;
}

static void obey(struct turn *turn)
{
    uint32_t period_us = wanted_period(turn);

    bool wall = wants_wall();

    if (period_us != sampler.threads.period_us || wall != sampler.threads.timers_rest) {
        threads_set_period(&sampler.threads, period_us, wall);
        wall_forget(&sampler.threads);
        turn->round_us = 0;
    }
    set_true_period(period_us ? period_us
                              : atomic_load_explicit(&sampler.segment.header->control.period_us,
                                                     memory_order_relaxed));
}

static uint32_t round_jitter_us(struct turn *turn, int64_t period_us)
{
    turn->random = turn->random * 1664525 + 1013904223;
    return (turn->random >> 8) % (uint32_t)(period_us / ROUND_JITTER);
}

static void follow_wall(struct turn *turn)
{
    int64_t period_us = sampler.threads.period_us;
    int64_t missed;

    if (!sampler.threads.timers_rest || !period_us) {
        turn->round_us = 0;
        return;
    }
    if (period_us < FEED_WALL_PERIOD_MIN_US)
        period_us = FEED_WALL_PERIOD_MIN_US;
    if (!turn->round_us) {
        turn->round_us = turn->due_us = turn->now_us + period_us;
        return;
    }
    if (turn->now_us < turn->due_us)
        return;
    missed = (turn->now_us - turn->round_us) / period_us;
    if (wall_round(&sampler.threads, &sampler.modules, &sampler.named, (uint64_t)missed))
        sampler_modules_unknown();
    turn->round_us += (missed + 1) * period_us;
    turn->due_us = turn->round_us + round_jitter_us(turn, period_us);
}

static void follow_service(struct turn *turn)
{
    struct feed_control *control = &sampler.segment.header->control;

    if (sampler.uplink < 0) {
        if (turn->now_us < turn->reconnect_us + RECONNECT_US)
            return;
        turn->reconnect_us = turn->now_us;
        atomic_store_explicit(&control->reader_us, 0, memory_order_relaxed);
        sampler.uplink = uplink_hello(&sampler.address, FEED_ORIGIN_EXEC, sampler.memfd);
        wall_forget(&sampler.threads); /* another service has not heard where threads sleep */
        return;
    }
    if (!uplink_poll(sampler.uplink)) {
        sys_call1(SYS_close, sampler.uplink);
        sampler.uplink = -1;
        turn->reconnect_us = turn->now_us;
    }
}

static void take_signals(void)
{
    struct timer_rights *rights = &sampler.threads.rights;

    sampler.threads.signal_number = tick_signal_choose(handler_tick);
    rights->trap =
        (rights->wish == FEED_TIMER_WISH_AUTO || rights->wish == FEED_TIMER_WISH_SIGTRAP) &&
        tick_signal_take_trap(handler_trap);
    rights->trap_in_kernel = tick_signal_trap_in_kernel();
}

/* Until the last trap is gone, execs wait for it. */
static void rearm(int signal_number)
{
    threads_rearm(&sampler.threads, signal_number);
    sampler.threads.rights.kernel_traps = false;
}

/* The program may take the signal for itself, or all of them; then it keeps what it took. A
 * debugger would stop at each trap. */
static void keep_signals(void)
{
    struct timer_rights *rights = &sampler.threads.rights;
    int number = sampler.threads.signal_number;
    bool trap_lost =
        rights->trap && (!tick_signal_ours(SIGTRAP, handler_trap) || tick_signal_traced());

    if (!number || !tick_signal_ours(number, handler_tick))
        number = tick_signal_choose(handler_tick);
    if (!trap_lost && number == sampler.threads.signal_number)
        return;
    if (trap_lost)
        rights->trap = false;
    rearm(number);
}

/* The program waits for it: its handler must not see a tick. */
static void yield_signal(void)
{
    struct timer_rights *rights = &sampler.threads.rights;
    int number = (int)atomic_load_explicit(&sampler.yielding, memory_order_acquire);

    if (!number)
        return;
    if (number == SIGTRAP)
        rights->trap = false;
    rearm(number == sampler.threads.signal_number ? tick_signal_choose(handler_tick)
                                                  : sampler.threads.signal_number);
    atomic_store_explicit(&sampler.yielding, 0, memory_order_release);
    sys_futex(&sampler.yielding, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
}

static void keep_house(struct turn *turn)
{
    struct feed_status *status = &sampler.segment.header->status;
    uint64_t ticks = atomic_load_explicit(&status->ticks, memory_order_relaxed);

    if (turn->now_us < turn->housekeeping_us + HOUSEKEEPING_US)
        return;
    turn->housekeeping_us = turn->now_us;
    turn->active = ticks != turn->ticks_before;
    turn->ticks_before = ticks;
    keep_signals();
    threads_relieve(&sampler.threads);
    tasks_scan(&sampler.threads,
               (int32_t)atomic_load_explicit(&sampler.thread.tid, memory_order_relaxed));
    tasks_names(&sampler.threads);
    deaf_look(&sampler.threads);
    modules_reclaim(&sampler.modules);
    atomic_store_explicit(&status->sampler_cpu_ns, clock_thread_cpu_ns(), memory_order_relaxed);
}

static void wait_for_work(struct turn *turn, uint32_t seen)
{
    int64_t wait_us = turn->active ? ACTIVE_WAIT_US : IDLE_WAIT_US;
    struct timespec timeout;

    if (turn->dlopen_looks < DLOPEN_LOOKS)
        wait_us = dlopen_looks_us[turn->dlopen_looks];
    else if (atomic_load_explicit(&sampler.modules_unknown, memory_order_relaxed) &&
             turn->unknown_wait_us < wait_us)
        wait_us = turn->unknown_wait_us;
    if (turn->round_us) {
        int64_t until_us = turn->due_us - clock_now_us();

        wait_us = until_us < 1 ? 1 : until_us < wait_us ? until_us : wait_us;
    }
    if (turn->interrupts && sampler.threads.period_us < wait_us)
        wait_us = sampler.threads.period_us;
    timeout = (struct timespec){ wait_us / 1000000, wait_us % 1000000 * 1000 };
    sys_futex(&sampler.segment.header->control.wake, FUTEX_WAIT, seen, &timeout);
}

/* The program's descriptors came along when the thread was made; held here, a pipe that the
 * program closes would never end. */
static void drop_range(int first, int last)
{
    if (first > last || sys_call3(SYS_close_range, first, last, 0) == 0)
        return;
    for (int fd = first; fd <= last && fd < OLD_KERNEL_FDS; fd++) /* before Linux 5.9 */
        sys_call1(SYS_close, fd);
}

static void drop_descriptors(void)
{
    int low = sampler.uplink < sampler.memfd ? sampler.uplink : sampler.memfd;
    int high = sampler.uplink < sampler.memfd ? sampler.memfd : sampler.uplink;

    drop_range(0, low - 1);
    drop_range(low + 1, high - 1);
    drop_range(high + 1, INT_MAX);
}

/* Wall mode's rounds are short, and late ones are lost: where the kernel (6.12 and later) lets
 * threads ask for short slices, ours is then preferred when it wakes, and gets no more in sum. */
static void ask_for_short_slices(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime_ns, deadline_ns, period_ns;
    } attr = { 0 };

    if (sys_call4(SYS_sched_getattr, 0, &attr, sizeof attr, 0) < 0 || attr.policy != 0)
        return;
    attr.runtime_ns = 100 * 1000; /* the least there is */
    sys_call3(SYS_sched_setattr, 0, &attr, 0);
}

static void body(void *unused)
{
    struct turn turn = { .active = true,
                         .dlopen_looks = DLOPEN_LOOKS,
                         .unknown_wait_us = UNKNOWN_WAIT_MIN_US };
    struct feed_header *header = sampler.segment.header;
    enum standstill_answer asked = STANDSTILL_GO_ON;

    (void)unused;
    /* No table is built yet: the first tick asks for them. A process that ends before it has
     * used a period of CPU time, as most of a shell's children do, pays nothing. */
    drop_descriptors();
    sys_call2(SYS_prctl, PR_SET_NAME, "isoscope");
    sys_call2(SYS_prctl, PR_SET_TIMERSLACK, 1); /* ns: wall mode's rounds are short */
    ask_for_short_slices();
    atomic_store_explicit(&header->status.sampler_tid, (uint32_t)sys_gettid(),
                          memory_order_relaxed);
    while (atomic_load_explicit(&sampler.running, memory_order_acquire) == RUN_ON) {
        uint32_t seen = atomic_load_explicit(&header->control.wake, memory_order_acquire);

        turn.now_us = clock_now_us();
        asked = standstill_serve();
        if (asked != STANDSTILL_GO_ON)
            break;
        threads_rest(&sampler.threads);
        yield_signal();
        follow_service(&turn);
        obey(&turn);
        threads_poll(&sampler.threads);
        turn.interrupts = threads_interrupt(&sampler.threads);
        follow_dlopen(&turn);
        follow_unknown(&turn);
        follow_wall(&turn);
        keep_house(&turn);
        wait_for_work(&turn, seen);
    }
    if (asked == STANDSTILL_AWAY)
        return;
    threads_stop(&sampler.threads);
    if (sampler.uplink >= 0)
        uplink_goodbye(sampler.uplink);
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

/* Says hello and starts the thread, which takes both descriptors along in its own table. */
static int go(enum feed_origin origin)
{
    int memfd = sampler.memfd;
    int uplink = uplink_hello(&sampler.address, origin, memfd);
    int error = uplink < 0 ? uplink : 0;

    if (!error) {
        sampler.uplink = uplink;
        atomic_store_explicit(&sampler.running, RUN_ON, memory_order_release);
        error = raw_thread_start(&sampler.thread, body, NULL) ? -ISOSCOPE_SYSTEM : 0;
        sys_call1(SYS_close, uplink);
    }
    sys_call1(SYS_close, memfd);
    if (error) {
        atomic_store_explicit(&sampler.running, RUN_STOPPED, memory_order_release);
        segment_destroy(&sampler.segment);
        sampler.memfd = sampler.uplink = -1;
    }
    return error;
}

bool sampler_restart_thread(void)
{
    if (raw_thread_start(&sampler.thread, body, NULL) == 0)
        return true;
    atomic_store_explicit(&sampler.running, RUN_WITHOUT_THREAD, memory_order_release);
    if (sampler.uplink >= 0)
        uplink_goodbye(sampler.uplink);
    return false;
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
    error = sampler.modules.files ? 0 : modules_new(&sampler.modules);
    if (error) {
        give_segment_back();
        return error;
    }
    modules_announce(&sampler.modules, &sampler.segment);
    sampler.threads.rights = (struct timer_rights){ .wish = (uint8_t)options->timer };
    take_signals();
    *slot = threads_enter(&sampler.threads, sys_gettid(), stack);
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
    sampler.uplink = sampler.memfd = -1;
}

/* Whether this thread's fork holds the rest lock; forks of several threads overlap. */
static __thread bool fork_rests;

void sampler_fork_prepare(void)
{
    fork_rests = sampler_running() && rest_lock(false);
}

void sampler_fork_parent(void)
{
    if (fork_rests)
        rest_unlock();
    fork_rests = false;
}

/* Only the forking thread came along, and none of our timers and descriptors. */
static void forget_threads(void)
{
    uint32_t used = atomic_load(&sampler.threads.used);

    wall_forget_parent(&sampler.threads);
    memset(sampler.threads.watches, 0, used * sizeof sampler.threads.watches[0]);
    memset(sampler.threads.slot_of_fd, 0, sizeof sampler.threads.slot_of_fd);
    atomic_store(&sampler.threads.used, 0);
    atomic_store(&sampler.threads.live, 0);
    memset(&sampler.threads.rests, 0, sizeof sampler.threads.rests);
    sampler.threads.period_us = 0;
}

static void forget_parent(void)
{
    forget_threads();
    raw_thread_forget(&sampler.thread);
    /* Handlers of the parent's other threads were counted in when the memory was copied. */
    atomic_store(&sampler.modules.maps.readers[0], 0);
    atomic_store(&sampler.modules.maps.readers[1], 0);
    atomic_store(&sampler.running, RUN_STOPPED);
    atomic_store(&sampler.resting, 0);
    standstill_forget();
    memset(&sampler.segment, 0, sizeof sampler.segment); /* its memory stayed in the parent */
}

uint32_t sampler_fork_child(uint32_t old_slot)
{
    /* The parent's segment, with the settings in it, is not mapped here. */
    uint32_t period_us = sampler.threads.period_us;
    struct stack_range stack = sampler.threads.watches[old_slot].stack;
    bool whole = fork_rests;
    uint32_t slot;

    fork_rests = false;
    if (!atomic_load(&sampler.running))
        return 0;
    forget_parent();
    if ((!whole && modules_new(&sampler.modules) < 0) ||
        make_segment(period_us ? period_us : FEED_PERIOD_DEFAULT_US, period_us != 0) < 0)
        return 0;
    modules_announce(&sampler.modules, &sampler.segment);
    slot = threads_enter(&sampler.threads, sampler.pid, &stack);
    return go(FEED_ORIGIN_FORK) == 0 ? slot : 0;
}
