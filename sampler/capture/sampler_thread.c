#include "sampler_thread.h"

#include "sampler.h"
#include "sampler_signals.h"
#include "standstill.h"
#include "system/clock.h"
#include "threads/cpu_timer.h"
#include "threads/tasks.h"
#include "wall/thread_choice.h"
#include "wall/wall.h"

#include "../feed/sys.h"

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
    FIRST_TABLES_US = 200 * 1000,
    UNKNOWN_WAIT_MIN_US = 2 * 1000, /* between two looks at the maps for the handlers' sake */
    UNKNOWN_WAIT_JIT_US = 20 * 1000,
    UNKNOWN_WAIT_MAX_US = 1000 * 1000,
    OLD_KERNEL_FDS = 65536,
    ROUND_JITTER =
        4, /* rounds come up to a period / 4 late, or they could run in step with a loop */
};

/* After dlopen is called, before it is done: look again after these times. */
static const int64_t dlopen_looks_us[] = { 200, 1000, 4000, 16000, 64000 };
enum { DLOPEN_LOOKS = sizeof dlopen_looks_us / sizeof dlopen_looks_us[0] };
/* What the thread remembers between two turns. */
struct turn {
    int64_t now_us;
    int64_t housekeeping_us, reconnect_us;
    int64_t dlopen_us;     /* when the last dlopen was heard of */
    uint32_t dlopen_looks; /* how many looks are done since */
    int64_t unknown_us, unknown_wait_us;
    uint64_t ticks_before;
    int64_t round_us, due_us; /* wall mode's next round, and when it is held; 0: there is none */
    int64_t tables_us; /* so long wall mode waits for the first tables; 0: it has not begun */
    uint32_t random;
    bool active;
};

static void note_modules(void)
{
    struct feed_status *status = &sampler.segment.header->status;

    atomic_store_explicit(&status->modules_live, sampler.modules.image_count, memory_order_relaxed);
    atomic_store_explicit(&status->table_bytes, sampler.modules.table_bytes, memory_order_relaxed);
}

/* True: there is code now that was not, or the other way round. */
static bool refresh_modules(void)
{
    uint32_t files = sampler.modules.file_count;
    bool changed;

    sampler_rest_lock(true);
    changed = modules_refresh(&sampler.modules, &sampler.segment);
    modules_reclaim(&sampler.modules);
    sampler_rest_unlock();
    note_modules();
    if (sampler.modules.file_count != files && sampler.uplink >= 0)
        uplink_look(sampler.uplink);
    return changed;
}

/* What slept in a module without a table is looked at again. */
static void follow_tables(void)
{
    bool any;

    sampler_rest_lock(true);
    any = modules_take_tables(&sampler.modules, &sampler.segment, sampler.address.tables);
    sampler_rest_unlock();
    if (!any)
        return;
    note_modules();
    wall_look_again(&sampler.threads);
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
    uint32_t timer = atomic_load_explicit(&status->timer, memory_order_relaxed);
    uint32_t floor_us = wants_wall()                    ? FEED_WALL_PERIOD_MIN_US
                        : timer == FEED_TIMER_CPU_CLOCK ? sampler.threads.timer_us
                                                        : FEED_PERIOD_MIN_US;

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

/* By what the service sees, or this process itself. */
static bool is_traced(void)
{
    struct feed_control *control = &sampler.segment.header->control;

    tracer_look(&sampler.threads.tracer);
    return sampler.threads.tracer.attached ||
           atomic_load_explicit(&control->traced, memory_order_relaxed) != 0;
}

static void obey(struct turn *turn)
{
    uint32_t period_us = wanted_period(turn);

    bool wall = wants_wall();

    threads_set_traced(&sampler.threads, is_traced());
    if (period_us != sampler_period_us() || wall != sampler.threads.wall) {
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

/* Sleepers cannot be walked without tables: rounds begin when the program's first ones are there,
 * but for a service that takes long. */
static bool awaits_first_tables(struct turn *turn)
{
    const struct modules *modules = &sampler.modules;

    if (!modules->started)
        refresh_modules();
    if (!turn->tables_us)
        turn->tables_us = turn->now_us + FIRST_TABLES_US;
    return modules->tables_to_come && turn->now_us < turn->tables_us;
}

static void follow_wall(struct turn *turn)
{
    int64_t period_us = sampler_period_us();
    int64_t missed;

    if (!sampler.threads.wall || !period_us) {
        turn->round_us = 0;
        return;
    }
    if (period_us < FEED_WALL_PERIOD_MIN_US)
        period_us = FEED_WALL_PERIOD_MIN_US;
    if (awaits_first_tables(turn))
        turn->round_us = 0;
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
        modules_forget_tables(&sampler.modules, &sampler.segment);
        sampler.uplink =
            uplink_hello(&sampler.address, FEED_ORIGIN_EXEC, sampler.memfd, sampler.threads.root);
        wall_forget(&sampler.threads); /* another service has not heard where threads sleep */
        return;
    }
    if (!uplink_poll(sampler.uplink)) {
        sys_call1(SYS_close, sampler.uplink);
        sampler.uplink = -1;
        turn->reconnect_us = turn->now_us;
    }
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
    sampler_signals_keep();
    tracer_keep(&sampler.threads.tracer);
    threads_relieve(&sampler.threads);
    tasks_scan(&sampler.threads);
    tasks_names(&sampler.threads);
    modules_reclaim(&sampler.modules);
    atomic_store_explicit(&status->sampler_cpu_ns, clock_thread_cpu_ns(), memory_order_relaxed);
    sampler_note_cpu_time();
}

/* The tick that woke us may have come before it was time to keep house. */
static bool is_active(const struct turn *turn)
{
    return turn->active || atomic_load_explicit(&sampler.segment.header->status.ticks,
                                                memory_order_relaxed) != turn->ticks_before;
}

static void wait_for_work(struct turn *turn, uint32_t seen)
{
    int64_t wait_us = is_active(turn) ? ACTIVE_WAIT_US : IDLE_WAIT_US;
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

/* All but those of the three that there are. */
static void drop_descriptors(void)
{
    int kept[] = { sampler.memfd, sampler.uplink, sampler.threads.root }, from = 0;

    for (int round = 0; round < 3; round++) {
        int next = INT_MAX;

        for (int i = 0; i < 3; i++)
            if (kept[i] >= from && kept[i] < next)
                next = kept[i];
        if (next == INT_MAX)
            break;
        drop_range(from, next - 1);
        from = next + 1;
    }
    drop_range(from, INT_MAX);
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

void sampler_thread_body(void *unused)
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
    sampler.threads.sampler_tid = sys_gettid();
    atomic_store_explicit(&header->status.sampler_tid, (uint32_t)sampler.threads.sampler_tid,
                          memory_order_relaxed);
    if (sampler.modules.tables_to_come && sampler.uplink >= 0) /* a forked child's */
        uplink_look(sampler.uplink);
    while (atomic_load_explicit(&sampler.running, memory_order_acquire) == RUN_ON) {
        uint32_t seen = atomic_load_explicit(&header->control.wake, memory_order_acquire);

        turn.now_us = clock_now_us();
        asked = standstill_serve();
        if (asked != STANDSTILL_GO_ON)
            break;
        sampler_signals_yield();
        follow_service(&turn);
        obey(&turn);
        threads_poll(&sampler.threads);
        follow_dlopen(&turn);
        follow_unknown(&turn);
        follow_tables();
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
