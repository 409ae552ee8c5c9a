#include "threads.h"

#include "cpu_timer.h"
#include "tasks.h"
#include "user_clock.h"

#include "../../feed/atomic_raise.h"
#include "../../feed/sys.h"
#include "../../include/isoscope/isoscope.h"
#include "../system/clock.h"
#include "../system/cpu_times.h"
#include "../system/maps.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

enum {
    SHORT_NEWS = 16,
    SHORT_LOOKS = 100, /* without news: no such threads are made any more */
    PERIOD_PARTS = 10, /* the shortest part of a period that new threads get */
};

SIGNAL_SAFE_INLINE void count_loss(struct threads *threads, enum feed_loss loss)
{
    atomic_fetch_add_explicit(&threads->segment->header->status.lost[loss], 1,
                              memory_order_relaxed);
}

SIGNAL_SAFE_INLINE _Atomic uint16_t *hint_of(struct threads *threads, int32_t tid)
{
    return &threads->hints[(uint32_t)tid % HINTS];
}

int threads_new(struct threads *threads)
{
    if (!threads->hints)
        threads->hints = pages_new(HINTS * sizeof threads->hints[0]);
    return threads->hints && by_slot_reach(&threads->watches, 0, sizeof(struct watch))
               ? 0
               : -ISOSCOPE_NO_MEMORY;
}

void threads_forget_parent(struct threads *threads)
{
    by_slot_clear(&threads->watches, sizeof(struct watch));
    pages_forget(threads->hints, HINTS * sizeof threads->hints[0]);
    memset(&threads->switching, 0, sizeof threads->switching);
    memset(&threads->tracer, 0, sizeof threads->tracer);
    atomic_store(&threads->leftover_ns, 0);
    atomic_store(&threads->carry_ns, 0);
    atomic_store(&threads->used, 0);
    atomic_store(&threads->live, 0);
    atomic_store(&threads->period_us, 0);
}

/* ---- one thread ---- */

SIGNAL_SAFE_INLINE bool timers_run(const struct threads *threads)
{
    return atomic_load_explicit(&threads->period_us, memory_order_acquire) != 0;
}

/* A thread that is already gone (ESRCH; EINVAL from its clock) is no loss. */
SIGNAL_SAFE_INLINE int open_timer(struct threads *threads, int32_t tid)
{
    long id = threads->signal_number ? cpu_timer_open(tid, threads->signal_number) : -EBUSY;

    if (id < 0 && id != -ESRCH && id != -EINVAL)
        count_loss(threads, FEED_LOSS_NO_TIMER);
    if (id >= 0 && timers_run(threads))
        cpu_timer_run((int)id, true);
    return id < 0 ? -1 : (int)id;
}

/* 0: there is none, or no memory for one. */
SIGNAL_SAFE_INLINE uint32_t claim_slot(struct threads *threads, int32_t tid)
{
    uint32_t slot = segment_thread_claim(threads->segment, tid, clock_now_us());

    if (!by_slot_reach(&threads->watches, slot, sizeof(struct watch))) {
        segment_thread_unclaim(threads->segment, slot);
        return 0;
    }
    return slot;
}

uint32_t threads_take(struct threads *threads, int32_t tid, const struct stack_range *stack,
                      bool scanned)
{
    uint32_t slot = claim_slot(threads, tid);
    struct watch *watch = threads_watch(threads, slot);

    if (!slot) {
        count_loss(threads, FEED_LOSS_NO_SLOT);
        return 0;
    }
    watch->scanned = scanned;
    watch->root = -1;
    watch->stack = *stack;
    memset(&watch->root_side, 0, sizeof watch->root_side);
    memset(&watch->load, 0, sizeof watch->load);
    memset(&watch->account, 0, sizeof watch->account);
    atomic_store_explicit(&watch->owed, 0, memory_order_relaxed);
    atomic_store_explicit(&watch->own, NULL, memory_order_relaxed);
    atomic_store_explicit(&watch->named, 0, memory_order_relaxed);
    atomic_store_explicit(&watch->asked_sp, 0, memory_order_relaxed);
    atomic_store_explicit(&watch->tid, tid, memory_order_relaxed);
    atomic_store_explicit(&watch->cpu_timer, open_timer(threads, tid), memory_order_relaxed);
    atomic_store_explicit(&watch->state, WATCH_ARMED, memory_order_release);
    atomic_store_explicit(hint_of(threads, tid), (uint16_t)slot, memory_order_relaxed);
    atomic_raise(&threads->used, slot + 1);
    atomic_fetch_add_explicit(&threads->live, 1, memory_order_relaxed);
    segment_thread_publish(threads->segment, slot);
    return slot;
}

void threads_count_from_now(struct threads *threads, uint32_t slot)
{
    struct account *account = &threads_watch(threads, slot)->account;

    account->at_tick_ns = cpu_times_read(&account->counted, &account->switches);
    account->at_tick = account->counted;
}

static void close_timer(struct watch *watch)
{
    int id = atomic_exchange(&watch->cpu_timer, -1);

    if (id >= 0)
        cpu_timer_close(id);
}

/* Its last part of a period was met by no tick: a sample of a thread that lives as shortly may
 * stand for it. */
static uint64_t leave_rest(struct threads *threads, const struct watch *watch)
{
    const struct account *account = &watch->account;
    uint64_t counted_ns = account->counted.user_ns + account->counted.system_ns;
    uint64_t cpu_ns = cpu_timer_thread_ns(watch->tid);

    if (cpu_ns > counted_ns && !account->late)
        atomic_fetch_add_explicit(&threads->leftover_ns, cpu_ns - counted_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&threads->carry_ns, account->carry_ns, memory_order_relaxed);
    return cpu_ns;
}

/* Of many such threads our thread is told now and then. Returns whether it is to be told now. */
static bool count_short(struct threads *threads, uint64_t cpu_ns)
{
    if (cpu_ns >= threads->root_us * UINT64_C(1000))
        return false;
    switching_forgive_short_thread(&threads->switching);
    return atomic_fetch_add_explicit(&threads->short_ended, 1, memory_order_relaxed) % SHORT_NEWS ==
           SHORT_NEWS - 1;
}

bool threads_leave(struct threads *threads, uint32_t slot)
{
    struct watch *watch = threads_watch(threads, slot);
    uint32_t armed = WATCH_ARMED;
    bool news;

    if (!slot || !atomic_compare_exchange_strong(&watch->state, &armed, WATCH_ENDING))
        return false;
    news = count_short(threads, leave_rest(threads, watch));
    close_timer(watch);
    if (watch->root >= 0)
        sys_call1(SYS_close, watch->root);
    watch->root = -1;
    /* What ticks now, on its last steps, is not to be taken for a stranger. */
    atomic_store_explicit(hint_of(threads, watch->tid), HINT_LEFT, memory_order_relaxed);
    atomic_store_explicit(&watch->tid, 0, memory_order_relaxed);
    atomic_store_explicit(&watch->state, WATCH_NONE, memory_order_release);
    atomic_fetch_sub_explicit(&threads->live, 1, memory_order_relaxed);
    segment_thread_end(threads->segment, slot);
    return news;
}

SIGNAL_SAFE_INLINE bool is_of(const struct watch *watch, int32_t tid)
{
    return watch && atomic_load_explicit(&watch->state, memory_order_acquire) == WATCH_ARMED &&
           atomic_load_explicit(&watch->tid, memory_order_relaxed) == tid;
}

uint32_t threads_find(struct threads *threads, int32_t tid)
{
    uint32_t hint = atomic_load_explicit(hint_of(threads, tid), memory_order_relaxed);
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    if (hint && hint < FEED_THREADS_MAX && is_of(threads_watch(threads, hint), tid))
        return hint;
    for (uint32_t slot = 1; slot < used; slot++)
        if (is_of(threads_watch(threads, slot), tid)) {
            atomic_store_explicit(hint_of(threads, tid), (uint16_t)slot, memory_order_relaxed);
            return slot;
        }
    return 0;
}

/* A child that shares our memory (vfork), or has a copy and has not begun anew (fork), is none of
 * the process's threads. */
uint32_t threads_slot_of_tick(struct threads *threads, int32_t process)
{
    const struct stack_range unknown = { 0 };
    int32_t tid = sys_gettid();
    uint32_t hint = atomic_load_explicit(hint_of(threads, tid), memory_order_relaxed), slot;

    if (hint && hint < FEED_THREADS_MAX && is_of(threads_watch(threads, hint), tid))
        return hint;
    if (hint == HINT_LEFT || (int32_t)sys_call0(SYS_getpid) != process)
        return 0;
    slot = threads_find(threads, tid);
    return slot ? slot : threads_take(threads, tid, &unknown, true);
}

void threads_give_name(struct threads *threads, uint32_t slot, const char name[16])
{
    struct watch *watch = threads_watch(threads, slot);

    memcpy(watch->name, name, sizeof watch->name);
    atomic_store_explicit(&watch->named, 1, memory_order_release);
    segment_thread_name(threads->segment, slot, watch->name);
}

/* ---- the user clock ---- */

static bool may_have_roots(const struct threads *threads)
{
    return threads->rights.trap && !threads->rights.refused &&
           threads->rights.wish != FEED_TIMER_WISH_CPU;
}

/* -EMFILE and the like are bad luck; these hold for the whole process. */
static bool for_good(long error)
{
    return error == -EACCES || error == -EPERM || error == -ENOSYS || error == -ENOENT ||
           error == -EOPNOTSUPP || error == -EINVAL;
}

static int open_root(struct threads *threads, int32_t tid, uint32_t period_us)
{
    long fd = may_have_roots(threads) ? user_clock_open(tid, period_us) : -EACCES;

    threads->rights.refused |= for_good(fd);
    return fd < 0 ? -1 : (int)fd;
}

void threads_open_root(struct threads *threads, uint32_t period_us)
{
    threads->root = open_root(threads, sys_gettid(), period_us);
    threads->root_tid = sys_gettid();
    threads->root_us = period_us;
    threads->root_runs = threads->gave_root_up = false;
    threads->wants_roots = threads->root >= 0 && !tasks_alone();
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        sys_call1(SYS_close, *fd);
    *fd = -1;
}

static void run_roots(struct threads *threads, bool runs)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);
    bool any = threads->root >= 0;

    if (any)
        user_clock_run(threads->root, runs);
    for (uint32_t slot = 1; slot < used; slot++)
        if (threads_watch(threads, slot)->root >= 0) {
            user_clock_run(threads_watch(threads, slot)->root, runs);
            any = true;
        }
    threads->root_runs = runs && any;
}

/* Off first: the service has a copy of the descriptor, and what it holds would tick on. */
static void close_roots(struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    run_roots(threads, false);
    close_fd(&threads->root);
    for (uint32_t slot = 1; slot < used; slot++)
        close_fd(&threads_watch(threads, slot)->root);
}

/* One for each thread that is there: they are not equal, and switches between them cost. */
static void open_missing_roots(struct threads *threads)
{
    uint32_t used;

    threads->wants_roots = false;
    tasks_take_all(threads);
    used = atomic_load_explicit(&threads->used, memory_order_acquire);
    for (uint32_t slot = 1; slot < used; slot++) {
        struct watch *watch = threads_watch(threads, slot);

        if (atomic_load_explicit(&watch->state, memory_order_acquire) == WATCH_ARMED &&
            watch->root < 0 && watch->tid != threads->root_tid)
            watch->root = open_root(threads, watch->tid, threads->root_us);
    }
}

/* A clock that stands still costs at each switch, too: a tenth of a program that does little else.
 * So one that is left is closed, by the service as well. Between several threads it stays: opened
 * again it would not be equal in them, and their switches with each other would cost. */
static void give_root_up(struct threads *threads)
{
    threads->gave_root_up = true;
    close_roots(threads);
    atomic_store_explicit(&threads->segment->header->status.clock_given_up, 1,
                          memory_order_release);
}

/* ---- all ---- */

/* Once known, a stack stays: the handler may be reading the range. */
static void answer_stack(struct watch *watch)
{
    struct stack_range range = { 0 };

    if (!watch->stack.high && maps_find(watch->probe_sp, &range.low, &range.high)) {
        watch->stack.low = range.low;
        __atomic_store_n(&watch->stack.high, range.high, __ATOMIC_RELEASE);
    }
    /* 2: asked and answered. A stack that is still unknown is not asked for again. */
    atomic_store_explicit(&watch->asked_sp, 2, memory_order_release);
}

static enum feed_timer_reason no_user_clock(const struct threads *threads)
{
    const struct clock_rights *rights = &threads->rights;

    if (rights->wish == FEED_TIMER_WISH_CPU)
        return FEED_TIMER_REASON_ASKED;
    if (!rights->trap)
        return (enum feed_timer_reason)rights->no_trap;
    if (rights->refused)
        return FEED_TIMER_REASON_REFUSED;
    if (threads->traced)
        return FEED_TIMER_REASON_TRACED;
    return threads->switching.left ? FEED_TIMER_REASON_SWITCHES : FEED_TIMER_REASON_NONE;
}

static void report(struct threads *threads)
{
    struct feed_status *status = &threads->segment->header->status;
    enum feed_timer_reason reason = no_user_clock(threads);
    enum feed_timer timer =
        reason == FEED_TIMER_REASON_NONE ? FEED_TIMER_PERF_TRAP : FEED_TIMER_CPU_CLOCK;

    atomic_store_explicit(&status->timer_reason, reason, memory_order_relaxed);
    atomic_store_explicit(&status->timer, timer, memory_order_release);
}

/* The user clock ticks where somebody wants ticks in CPU mode, and switches are not too dear. */
static void set_roots(struct threads *threads)
{
    uint32_t period_us = atomic_load_explicit(&threads->period_us, memory_order_relaxed);
    bool runs = period_us && !threads->wall && !threads->traced && !threads->switching.left;

    if (period_us && period_us < threads->root_us) { /* what was inherited cannot tick faster */
        close_roots(threads);
        threads->root_tid = 0;
        threads->root_us = period_us;
        threads->wants_roots = true;
    }
    if (runs && threads->gave_root_up) {
        threads->gave_root_up = false;
        threads->root_tid = 0;
        threads->wants_roots = true;
    }
    if (threads->wants_roots && !threads->gave_root_up) {
        open_missing_roots(threads);
        threads->root_runs = !runs;
    }
    if (runs != threads->root_runs)
        run_roots(threads, runs);
    if (threads->switching.left && !threads->gave_root_up &&
        atomic_load_explicit(&threads->live, memory_order_relaxed) == 1)
        give_root_up(threads);
    report(threads);
}

static void set_timers(struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    for (uint32_t slot = 1; slot < used; slot++) {
        int id =
            atomic_load_explicit(&threads_watch(threads, slot)->cpu_timer, memory_order_relaxed);

        if (id >= 0)
            cpu_timer_run(id, timers_run(threads));
    }
}

static uint32_t random_below(struct threads *threads, uint32_t limit)
{
    threads->random = threads->random * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)threads->random * limit >> 32);
}

/* A thread's first tick comes when it has lived for a whole period: those that never do would never
 * be seen. While many are made, those to come get a part of it, taken by chance; the handler leaves
 * out what is too much. */
static void vary_root(struct threads *threads)
{
    uint32_t ended = atomic_load_explicit(&threads->short_ended, memory_order_relaxed);
    uint32_t whole_us = threads->root_us, least_us = whole_us / PERIOD_PARTS;

    if (threads->root < 0 || !threads->root_runs)
        return;
    if (ended - threads->short_seen >= SHORT_NEWS) {
        threads->short_seen = ended;
        threads->short_looks = SHORT_LOOKS;
        if (least_us < FEED_PERIOD_MIN_US)
            least_us = whole_us < FEED_PERIOD_MIN_US ? whole_us : FEED_PERIOD_MIN_US;
        user_clock_set_period(threads->root,
                              least_us + random_below(threads, whole_us - least_us + 1));
    } else if (threads->short_looks && !--threads->short_looks) {
        user_clock_set_period(threads->root, whole_us);
    }
}

void threads_poll(struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    for (uint32_t slot = 1; slot < used; slot++) {
        struct watch *watch = threads_watch(threads, slot);

        if (atomic_load_explicit(&watch->state, memory_order_acquire) == WATCH_ARMED &&
            atomic_load_explicit(&watch->asked_sp, memory_order_acquire) == 1)
            answer_stack(watch);
    }
    vary_root(threads);
    if (switching_turned(&threads->switching))
        threads_relieve(threads);
}

void threads_set_period(struct threads *threads, uint32_t period_us, bool wall)
{
    bool ran = timers_run(threads);

    atomic_store_explicit(&threads->period_us, period_us, memory_order_release);
    threads->wall = wall;
    set_roots(threads);
    if (ran != timers_run(threads))
        set_timers(threads);
}

void threads_set_traced(struct threads *threads, bool traced)
{
    if (traced == threads->traced)
        return;
    threads->traced = traced;
    set_roots(threads);
}

void threads_relieve(struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    for (uint32_t slot = 1; slot < used; slot++)
        if (atomic_load_explicit(&threads_watch(threads, slot)->state, memory_order_acquire) ==
            WATCH_ARMED)
            overload_look(&threads_watch(threads, slot)->load);
    if (switching_look(&threads->switching))
        set_roots(threads);
}

/* The thread may end meanwhile, and take only the timer that it had. */
static void make_timer_anew(struct threads *threads, struct watch *watch)
{
    int32_t tid = atomic_load_explicit(&watch->tid, memory_order_relaxed);

    close_timer(watch);
    atomic_store(&watch->cpu_timer, open_timer(threads, tid));
    if (!is_of(watch, tid))
        close_timer(watch);
}

void threads_rearm(struct threads *threads, int signal_number)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);
    bool other = signal_number != threads->signal_number;

    threads->signal_number = signal_number;
    for (uint32_t slot = 1; other && slot < used; slot++)
        if (atomic_load_explicit(&threads_watch(threads, slot)->state, memory_order_acquire) ==
            WATCH_ARMED)
            make_timer_anew(threads, threads_watch(threads, slot));
    if (!may_have_roots(threads))
        close_roots(threads);
    report(threads);
}

void threads_part(struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);
    bool any = false;

    for (uint32_t slot = 1; slot < used; slot++)
        any |= threads_watch(threads, slot)->root >= 0;
    if (!any)
        return;
    close_roots(threads);
    threads->root_tid = 0;
    threads->wants_roots = true;
}

void threads_stop(struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    close_roots(threads);
    for (uint32_t slot = 1; slot < used; slot++)
        threads_leave(threads, slot);
}
