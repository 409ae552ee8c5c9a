#include "tend.h"

#include "announce.h"
#include "event_epoch.h"
#include "own_rates.h"
#include "sampler_signals.h"
#include "sampler_state.h"
#include "system/clock.h"
#include "threads/tasks.h"

#include "../feed/feed_count.h"

enum {
    HOUSE_US = 100 * 1000,
    READER_GONE_US = 3 * 1000 * 1000,
    AGAIN_US = 1000 * 1000, /* between two looks for another service */
    /* Between two looks at what is mapped, for the sake of code that is not known. */
    UNKNOWN_WAIT_MIN_US = 2 * 1000,
    UNKNOWN_WAIT_JIT_US = 20 * 1000,
    UNKNOWN_WAIT_MAX_US = 1000 * 1000,
    LOOK_PART = 20, /* the most of a program's time that looks take */
};

static SIGNAL_SAFE struct feed_control *control(void)
{
    return &sampler.writer.header->control;
}

static SIGNAL_SAFE struct feed_status *status(void)
{
    return &sampler.writer.header->status;
}

static SIGNAL_SAFE bool reader_is_gone(int64_t now_us)
{
    int64_t reader_us = atomic_load_explicit(&control()->reader_us, memory_order_relaxed);

    return now_us - reader_us > READER_GONE_US;
}

/* What the service wants, as a period; 0: nothing, or nobody is there to want. */
static SIGNAL_SAFE uint32_t wanted_period(int64_t now_us)
{
    uint32_t period_us = atomic_load_explicit(&control()->period_us, memory_order_relaxed);

    if (!atomic_load_explicit(&control()->enabled, memory_order_relaxed) || reader_is_gone(now_us))
        return 0;
    if (period_us < FEED_PERIOD_MIN_US)
        return FEED_PERIOD_MIN_US;
    return period_us < FEED_PERIOD_MAX_US ? period_us : FEED_PERIOD_MAX_US;
}

static SIGNAL_SAFE uint32_t wanted_sources(void)
{
    bool wall = atomic_load_explicit(&control()->mode, memory_order_relaxed) == FEED_MODE_WALL;

    return wall ? SOURCE_WALL : SOURCE_CPU;
}

static SIGNAL_SAFE void apply_settings(int64_t now_us)
{
    uint32_t period_us = wanted_period(now_us), sources = wanted_sources();

    if (period_us != sampler_period_us() ||
        sources != atomic_load_explicit(&sampler.threads.sources, memory_order_relaxed))
        threads_set_period(&sampler.threads, period_us, sources);
}

static SIGNAL_SAFE void note_modules(void)
{
    atomic_store_explicit(&status()->modules_live, sampler.modules.image_count,
                          memory_order_relaxed);
    atomic_store_explicit(&status()->table_bytes, sampler.modules.table_bytes,
                          memory_order_relaxed);
}

/* Code that no look makes known (a JIT's that writes no perf map) is met again and again: then the
 * looks become rare. A JIT's that grows is followed, at leisure. */
static SIGNAL_SAFE int64_t next_wait_us(bool new_files, bool changed, int64_t took_us)
{
    int64_t wait_us = sampler.tend.unknown_wait_us;

    if (new_files || !wait_us)
        wait_us = UNKNOWN_WAIT_MIN_US;
    else if (changed)
        wait_us = UNKNOWN_WAIT_JIT_US;
    else if (wait_us < UNKNOWN_WAIT_MAX_US)
        wait_us *= 2;
    sampler.tend.unknown_wait_us = wait_us;
    return wait_us > LOOK_PART * took_us ? wait_us : LOOK_PART * took_us;
}

static SIGNAL_SAFE void look_at_modules(int64_t now_us)
{
    uint32_t files = sampler.modules.file_count;
    bool changed;
    uint64_t began_ns = clock_thread_cpu_ns();
    int64_t took_us;

    sampler_open_tables();
    changed = modules_refresh(&sampler.modules, &sampler.writer);
    /* Of the thread's time: on a busy machine it takes much longer, and costs no more. */
    took_us = (int64_t)((clock_thread_cpu_ns() - began_ns) / 1000);
    modules_reclaim(&sampler.modules);
    note_modules();
    atomic_fetch_add_explicit(&status()->module_looks, 1, memory_order_relaxed);
    atomic_store_explicit(&sampler.tend.unknown, 0, memory_order_relaxed);
    atomic_store_explicit(&sampler.tend.modules_us,
                          now_us +
                              next_wait_us(sampler.modules.file_count != files, changed, took_us),
                          memory_order_relaxed);
    if (sampler.modules.file_count != files)
        sampler_ask_service();
}

static SIGNAL_SAFE bool modules_are_due(int64_t now_us)
{
    return (!sampler.modules.started ||
            atomic_load_explicit(&sampler.tend.unknown, memory_order_relaxed) ||
            atomic_load_explicit(&sampler.modules.maps.unloads, memory_order_relaxed) !=
                sampler.modules.unloads) &&
           now_us >= atomic_load_explicit(&sampler.tend.modules_us, memory_order_relaxed);
}

/* The program rests then: a tick comes a few times in a second of its time. */
static SIGNAL_SAFE void look_for_service(int64_t now_us)
{
    if (!reader_is_gone(now_us) || now_us < sampler.tend.again_us)
        return;
    sampler.tend.again_us = now_us + AGAIN_US;
    announce_again();
}

static SIGNAL_SAFE void housekeeping(int64_t now_us)
{
    atomic_store_explicit(&sampler.tend.house_us, now_us + HOUSE_US, memory_order_relaxed);
    look_for_service(now_us);
    apply_settings(now_us); /* the service may be gone */
    event_epoch_follow(!reader_is_gone(now_us));
    own_rates_follow(!reader_is_gone(now_us));
    sampler_signals_keep();
    tracer_keep(&sampler.threads.tracer);
    if (threads_relieve(&sampler.threads))
        sampler_ask_service();
    tasks_scan(&sampler.threads);
    modules_reclaim(&sampler.modules);
    sampler_note_cpu_time();
}

static SIGNAL_SAFE void follow_service(int64_t now_us, uint32_t changes)
{
    sampler.tend.changes_seen = changes;
    apply_settings(now_us);
    event_epoch_follow(!reader_is_gone(now_us));
    own_rates_follow(!reader_is_gone(now_us));
    sampler_follow_watch();
    sampler_open_tables(); /* a user's first program comes before his tables do */
    if (modules_take_tables(&sampler.modules, &sampler.writer))
        note_modules();
}

static SIGNAL_SAFE bool is_due(int64_t now_us, uint32_t changes)
{
    return changes != sampler.tend.changes_seen ||
           now_us >= atomic_load_explicit(&sampler.tend.house_us, memory_order_relaxed) ||
           modules_are_due(now_us) || switching_turned(&sampler.threads.switching);
}

static SIGNAL_SAFE void do_what_is_due(int64_t now_us)
{
    uint32_t changes = atomic_load_explicit(&control()->changes, memory_order_acquire);

    if (changes != sampler.tend.changes_seen)
        follow_service(now_us, changes);
    if (switching_turned(&sampler.threads.switching) ||
        now_us >= atomic_load_explicit(&sampler.tend.house_us, memory_order_relaxed))
        housekeeping(now_us);
    if (sampler_period_us() && modules_are_due(now_us))
        look_at_modules(now_us);
}

/* Nothing, when another tick is at it. */
static SIGNAL_SAFE void with_lock(void (*work)(int64_t now_us), int64_t now_us)
{
    uint64_t began_ns;

    if (!sampler_try_lock())
        return;
    if (sampler_running()) {
        began_ns = clock_thread_cpu_ns();
        work(now_us);
        feed_count(&status()->upkeep_ns, clock_thread_cpu_ns() - began_ns);
    }
    sampler_unlock();
}

void tend_at_tick(void)
{
    int64_t now_us = clock_now_us();

    if (is_due(now_us, atomic_load_explicit(&control()->changes, memory_order_acquire)))
        with_lock(do_what_is_due, now_us);
}

/* In the middle of a sample: nothing else is done. */
bool tend_unknown_code(void)
{
    int64_t now_us = clock_now_us();
    const struct code_map *before = atomic_load(&sampler.modules.maps.current);

    atomic_store_explicit(&sampler.tend.unknown, 1, memory_order_relaxed);
    if (modules_are_due(now_us))
        with_lock(look_at_modules, now_us);
    return atomic_load(&sampler.modules.maps.current) != before;
}

void tend_begin(void)
{
    sampler.tend = (struct tend){ .changes_seen = atomic_load(&control()->changes) };
    apply_settings(clock_kernel_us());
}
