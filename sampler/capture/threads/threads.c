#include "threads.h"

#include "cpu_timer.h"
#include "tasks.h"
#include "user_clock.h"

#include "../../feed/atomic_raise.h"
#include "../../feed/feed_count.h"
#include "../../feed/sys.h"
#include "../../include/isoscope/isoscope.h"
#include "../system/clock.h"
#include "../system/cpu_times.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

enum { SHORT_NEWS = 16 }; /* threads that lived shortly, before the service is told */

SIGNAL_SAFE_INLINE void count_loss(struct threads *threads, enum feed_loss loss)
{
    feed_count(&threads->writer->header->status.lost[loss], 1);
}

SIGNAL_SAFE_INLINE _Atomic uint16_t *hint_of(struct threads *threads, int32_t tid)
{
    return &threads->hints[(uint32_t)tid % HINTS];
}

/* The first thread lies in one page, behind slot 0, which nobody has: a start touches no other. */
int threads_new(struct threads *threads)
{
    /* A forked child gives them back, and not what lies behind them. */
    const size_t hints_bytes = pages_whole(HINTS * sizeof threads->hints[0]);
    const size_t before_bytes = pages_whole(1) - sizeof(struct sampled_thread);
    char *memory;

    if (threads->hints)
        return 0;
    atomic_store_explicit(&threads->sources, SOURCE_CPU, memory_order_relaxed);
    memory =
        pages_new(hints_bytes + before_bytes + by_slot_block_bytes(sizeof(struct sampled_thread)));
    if (!memory)
        return -ISOSCOPE_NO_MEMORY;
    threads->hints = (_Atomic(uint16_t) *)memory;
    by_slot_begin(&threads->sampled, memory + hints_bytes + before_bytes);
    return 0;
}

void threads_forget_parent(struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_relaxed);

    for (uint32_t slot = 1; slot < used; slot++)
        atomic_store_explicit(&threads_at(threads, slot)->state, SAMPLED_NONE,
                              memory_order_relaxed);
    threads->clock_page = NULL; /* the kernel has left it out */
    memset(&threads->switching, 0, sizeof threads->switching);
    memset(&threads->tracer, 0, sizeof threads->tracer);
    atomic_store(&threads->leftover_ns, 0);
    atomic_store(&threads->carry_ns, 0);
    atomic_store(&threads->used, 0);
    atomic_store(&threads->period_us, 0);
    atomic_store(&threads->begun, false);
}

/* ---- one thread ---- */

SIGNAL_SAFE_INLINE bool timers_run(const struct threads *threads)
{
    return atomic_load_explicit(&threads->period_us, memory_order_acquire) != 0;
}

static SIGNAL_SAFE void count_no_timer(struct threads *threads)
{
    count_loss(threads, threads->signal_number ? FEED_LOSS_NO_TIMER : FEED_LOSS_NO_SIGNAL);
}

/* A thread that is already gone (ESRCH; EINVAL from its clock) is no loss. */
SIGNAL_SAFE_INLINE int open_timer(struct threads *threads, int32_t tid)
{
    long id = threads->signal_number ? cpu_timer_open(tid, threads->signal_number) : -EBUSY;

    if (id < 0 && id != -ESRCH && id != -EINVAL)
        count_no_timer(threads);
    if (id >= 0)
        cpu_timer_run((int)id, timers_run(threads));
    return id < 0 ? -1 : (int)id;
}

static SIGNAL_SAFE bool may_have_clock(const struct threads *threads)
{
    return threads->rights.trap && !threads->rights.refused &&
           threads->rights.wish != FEED_TIMER_WISH_CPU;
}

/* 0: there is none, or no memory for one. */
SIGNAL_SAFE_INLINE uint32_t claim_slot(struct threads *threads, int32_t tid)
{
    uint32_t slot = feed_writer_thread_claim(threads->writer, tid, clock_kernel_us());

    if (!by_slot_reach(&threads->sampled, slot, sizeof(struct sampled_thread))) {
        feed_writer_thread_unclaim(threads->writer, slot);
        return 0;
    }
    return slot;
}

static SIGNAL_SAFE void take_sources(const struct threads *threads, struct sampled_thread *sampled)
{
    atomic_store(&sampled->sources, atomic_load(&threads->sources));
}

static SIGNAL_SAFE void fill_slot(const struct threads *threads, struct sampled_thread *sampled,
                                  int32_t tid, const struct stack_range *stack)
{
    take_sources(threads, sampled);
    sampled->stack_asked = false;
    sampled->name_us = 0;
    sampled->stack = *stack;
    memset(&sampled->outer_frames, 0, sizeof sampled->outer_frames);
    memset(&sampled->ring_busy, 0, sizeof sampled->ring_busy);
    memset(&sampled->event_busy, 0, sizeof sampled->event_busy);
    memset(&sampled->throttle, 0, sizeof sampled->throttle);
    memset(&sampled->account, 0, sizeof sampled->account);
    atomic_store_explicit(&sampled->own, NULL, memory_order_relaxed);
    atomic_store_explicit(&sampled->named, 0, memory_order_relaxed);
    atomic_store_explicit(&sampled->tid, tid, memory_order_relaxed);
}

uint32_t threads_take(struct threads *threads, int32_t tid, const struct stack_range *stack,
                      bool scanned)
{
    uint32_t slot = claim_slot(threads, tid);
    struct sampled_thread *sampled = threads_at(threads, slot);

    if (!slot) {
        count_loss(threads, FEED_LOSS_NO_SLOT);
        return 0;
    }
    fill_slot(threads, sampled, tid, stack);
    sampled->scanned = scanned;
    feed_writer_thread_stack(threads->writer, slot, stack->low, stack->high, stack->root);
    atomic_store_explicit(&sampled->cpu_timer, open_timer(threads, tid), memory_order_relaxed);
    atomic_store_explicit(&sampled->state, SAMPLED_ARMED, memory_order_release);
    if (atomic_load_explicit(&threads->used, memory_order_relaxed)) /* the first finds itself */
        atomic_store_explicit(hint_of(threads, tid), (uint16_t)slot, memory_order_relaxed);
    atomic_raise(&threads->used, slot + 1);
    take_sources(threads, sampled); /* who changes them may not have seen the slot yet */
    atomic_fetch_add_explicit(threads_live(threads), 1, memory_order_relaxed);
    feed_writer_thread_publish(threads->writer, slot);
    return slot;
}

void threads_count_from_now(struct threads *threads, uint32_t slot)
{
    struct account *account = &threads_at(threads, slot)->account;

    account->at_tick_ns = cpu_times_read(&account->counted, &account->switches);
    account->at_tick = account->counted;
}

static SIGNAL_SAFE void close_timer(struct sampled_thread *sampled)
{
    int id = atomic_exchange(&sampled->cpu_timer, -1);

    if (id >= 0)
        cpu_timer_close(id);
}

/* Its last part of a period was met by no tick: a sample of a thread that lives as shortly may
 * stand for it. */
static SIGNAL_SAFE uint64_t leave_rest(struct threads *threads,
                                       const struct sampled_thread *sampled)
{
    const struct account *account = &sampled->account;
    uint64_t counted_ns = account->counted.user_ns + account->counted.system_ns;
    uint64_t cpu_ns = cpu_timer_thread_ns(sampled->tid);

    if (cpu_ns > counted_ns && !account->late)
        atomic_fetch_add_explicit(&threads->leftover_ns, cpu_ns - counted_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&threads->carry_ns, account->carry_ns, memory_order_relaxed);
    return cpu_ns;
}

/* Of many such threads the service is told now and then. Returns whether it is to be told now. */
static SIGNAL_SAFE bool count_short(struct threads *threads, uint64_t cpu_ns)
{
    struct feed_status *status = &threads->writer->header->status;

    if (cpu_ns >=
        atomic_load_explicit(&status->clock_period_us, memory_order_relaxed) * UINT64_C(1000))
        return false;
    switching_forgive_short_thread(&threads->switching);
    return atomic_fetch_add_explicit(&status->short_ended, 1, memory_order_relaxed) % SHORT_NEWS ==
           SHORT_NEWS - 1;
}

bool threads_leave(struct threads *threads, uint32_t slot)
{
    struct sampled_thread *sampled = threads_at(threads, slot);
    uint32_t armed = SAMPLED_ARMED;
    bool news;

    if (!slot || !atomic_compare_exchange_strong(&sampled->state, &armed, SAMPLED_ENDING))
        return false;
    news = count_short(threads, leave_rest(threads, sampled));
    close_timer(sampled);
    /* What ticks now, on its last steps, is registered. */
    atomic_store_explicit(hint_of(threads, sampled->tid), HINT_LEFT, memory_order_relaxed);
    atomic_store_explicit(&sampled->tid, 0, memory_order_relaxed);
    atomic_store_explicit(&sampled->state, SAMPLED_NONE, memory_order_release);
    atomic_fetch_sub_explicit(threads_live(threads), 1, memory_order_relaxed);
    feed_writer_thread_end(threads->writer, slot);
    return news;
}

SIGNAL_SAFE_INLINE bool is_of(const struct sampled_thread *sampled, int32_t tid)
{
    return sampled &&
           atomic_load_explicit(&sampled->state, memory_order_acquire) == SAMPLED_ARMED &&
           atomic_load_explicit(&sampled->tid, memory_order_relaxed) == tid;
}

uint32_t threads_find(struct threads *threads, int32_t tid)
{
    uint32_t hint = atomic_load_explicit(hint_of(threads, tid), memory_order_relaxed);
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    if (hint && hint < FEED_THREADS_MAX && is_of(threads_at(threads, hint), tid))
        return hint;
    for (uint32_t slot = 1; slot < used; slot++)
        if (is_of(threads_at(threads, slot), tid)) {
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

    if (hint && hint < FEED_THREADS_MAX && is_of(threads_at(threads, hint), tid))
        return hint;
    if (hint == HINT_LEFT || (int32_t)sys_call0(SYS_getpid) != process)
        return 0;
    slot = threads_find(threads, tid);
    return slot ? slot : threads_take(threads, tid, &unknown, true);
}

void threads_give_name(struct threads *threads, uint32_t slot, const char name[16])
{
    struct sampled_thread *sampled = threads_at(threads, slot);

    memcpy(sampled->name, name, sizeof sampled->name);
    atomic_store_explicit(&sampled->named, 1, memory_order_release);
    if (!threads->writer->header)
        return; /* a forked child that has not begun tells it then */
    feed_writer_thread_named(threads->writer, slot);
    feed_writer_thread_name(threads->writer, slot, sampled->name);
}

/* ---- a forked child ---- */

/* As little as can be: most forked children end or exec soon. */
bool threads_arm_child(struct threads *threads, const struct stack_range *stack, uint32_t period_us,
                       bool waits)
{
    struct sampled_thread *sampled = threads_at(threads, CHILD_SLOT);
    int32_t tid = sys_gettid();
    long id = threads->signal_number ? cpu_timer_open(tid, threads->signal_number) : -EBUSY;

    fill_slot(threads, sampled, tid, stack);
    sampled->scanned = false;
    atomic_store_explicit(&sampled->cpu_timer, id < 0 ? -1 : (int)id, memory_order_relaxed);
    atomic_store_explicit(&sampled->state, SAMPLED_ARMED, memory_order_release);
    atomic_store_explicit(&threads->used, CHILD_SLOT + 1, memory_order_relaxed);
    atomic_store_explicit(&threads->period_us, period_us, memory_order_relaxed);
    if (id >= 0)
        cpu_timer_run((int)id, true);
    if (waits && may_have_clock(threads))
        threads->clock_page = user_clock_of_page(period_us);
    return id >= 0 || threads->clock_page;
}

void threads_begin_child(struct threads *threads)
{
    struct sampled_thread *sampled = threads_at(threads, CHILD_SLOT);

    pages_forget(threads->hints, HINTS * sizeof threads->hints[0]);
    if (atomic_load_explicit(&sampled->cpu_timer, memory_order_relaxed) < 0)
        count_no_timer(threads);
    threads_enter_feed(threads);
}

void threads_disarm_child(struct threads *threads)
{
    struct sampled_thread *sampled = threads_at(threads, CHILD_SLOT);

    atomic_store_explicit(&sampled->state, SAMPLED_NONE, memory_order_release);
    close_timer(sampled);
}

/* ---- the user clock ---- */

/* The kernel itself says EACCES for want of rights; EPERM is what filters say. */
static SIGNAL_SAFE enum feed_timer_reason why_no_clock(long error)
{
    if (error >= 0)
        return FEED_TIMER_REASON_NONE;
    if (error == -EACCES)
        return FEED_TIMER_REASON_REFUSED;
    if (error == -EPERM)
        return FEED_TIMER_REASON_FILTERED;
    return error == -ENOSYS || error == -ENOENT || error == -EOPNOTSUPP || error == -EINVAL
               ? FEED_TIMER_REASON_ABSENT
               : FEED_TIMER_REASON_NO_ROOM;
}

int threads_open_clock(struct threads *threads, uint32_t period_us, bool runs)
{
    struct feed_status *status = &threads->writer->header->status;
    long fd = -1;

    if (may_have_clock(threads)) {
        fd = user_clock_open(sys_gettid(), period_us, runs);
        threads->rights.no_clock = (uint8_t)why_no_clock(fd);
        /* Want of room is bad luck; the rest holds for the whole process. */
        threads->rights.refused = fd < 0 && threads->rights.no_clock != FEED_TIMER_REASON_NO_ROOM;
    }
    atomic_store_explicit(&status->clock_before,
                          atomic_load_explicit(&threads->used, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&status->clock_tid, sys_gettid(), memory_order_relaxed);
    atomic_store_explicit(&status->clock_period_us, fd < 0 ? 0 : period_us, memory_order_relaxed);
    return fd < 0 ? -1 : (int)fd;
}

static SIGNAL_SAFE enum feed_timer_reason no_user_clock(const struct threads *threads)
{
    const struct clock_rights *rights = &threads->rights;

    if (rights->wish == FEED_TIMER_WISH_CPU)
        return FEED_TIMER_REASON_ASKED;
    if (!rights->trap)
        return (enum feed_timer_reason)rights->no_trap;
    if (rights->no_clock)
        return (enum feed_timer_reason)rights->no_clock;
    return threads->switching.left ? FEED_TIMER_REASON_SWITCHES : FEED_TIMER_REASON_NONE;
}

void threads_report(struct threads *threads)
{
    atomic_store_explicit(&threads->writer->header->status.clock_reason, no_user_clock(threads),
                          memory_order_release);
}

/* ---- all ---- */

static SIGNAL_SAFE void set_timers(struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    for (uint32_t slot = 1; slot < used; slot++) {
        int id = atomic_load_explicit(&threads_at(threads, slot)->cpu_timer, memory_order_relaxed);

        if (id >= 0)
            cpu_timer_run(id, timers_run(threads));
    }
}

/* What they have used while nobody wanted ticks is in no sample. */
static SIGNAL_SAFE void begin_anew(struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    for (uint32_t slot = 1; slot < used; slot++)
        threads_at(threads, slot)->account.late = true;
}

static SIGNAL_SAFE void set_sources(struct threads *threads, uint32_t sources)
{
    uint32_t used;

    atomic_store(&threads->sources, sources);
    used = atomic_load(&threads->used);
    for (uint32_t slot = 1; slot < used; slot++)
        take_sources(threads, threads_at(threads, slot));
}

void threads_set_period(struct threads *threads, uint32_t period_us, uint32_t sources)
{
    bool ran = timers_run(threads);

    if (!ran && period_us && atomic_load_explicit(&threads->begun, memory_order_relaxed))
        begin_anew(threads);
    atomic_store_explicit(&threads->begun, true, memory_order_relaxed);
    atomic_store_explicit(&threads->period_us, period_us, memory_order_release);
    set_sources(threads, sources);
    if (ran != timers_run(threads))
        set_timers(threads);
}

bool threads_relieve(struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    for (uint32_t slot = 1; slot < used; slot++)
        if (atomic_load_explicit(&threads_at(threads, slot)->state, memory_order_acquire) ==
            SAMPLED_ARMED)
            throttle_look(&threads_at(threads, slot)->throttle);
    if (!switching_look(&threads->switching))
        return false;
    threads_report(threads);
    return true;
}

/* The thread may end meanwhile, and take only the timer that it had. */
static SIGNAL_SAFE void make_timer_anew(struct threads *threads, struct sampled_thread *sampled)
{
    int32_t tid = atomic_load_explicit(&sampled->tid, memory_order_relaxed);

    close_timer(sampled);
    atomic_store(&sampled->cpu_timer, open_timer(threads, tid));
    if (!is_of(sampled, tid))
        close_timer(sampled);
}

void threads_rearm(struct threads *threads, int signal_number)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);
    bool other = signal_number != threads->signal_number;

    threads->signal_number = signal_number;
    for (uint32_t slot = 1; other && slot < used; slot++)
        if (atomic_load_explicit(&threads_at(threads, slot)->state, memory_order_acquire) ==
            SAMPLED_ARMED)
            make_timer_anew(threads, threads_at(threads, slot));
    threads_report(threads);
}

void threads_enter_feed(struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    for (uint32_t slot = 1; slot < used; slot++) {
        struct sampled_thread *sampled = threads_at(threads, slot);

        if (atomic_load_explicit(&sampled->state, memory_order_acquire) != SAMPLED_ARMED)
            continue;
        if (!feed_writer_thread_claim_slot(threads->writer, slot, sampled->tid, clock_now_us())) {
            atomic_store_explicit(&sampled->state, SAMPLED_NONE, memory_order_release);
            close_timer(sampled);
            count_loss(threads, FEED_LOSS_NO_SLOT);
            continue;
        }
        sampled->name_us = 0;
        atomic_store_explicit(hint_of(threads, sampled->tid), (uint16_t)slot, memory_order_relaxed);
        feed_writer_thread_stack(threads->writer, slot, sampled->stack.low, sampled->stack.high,
                                 sampled->stack.root);
        if (atomic_load_explicit(&sampled->named, memory_order_acquire))
            feed_writer_thread_named(threads->writer, slot);
        atomic_store_explicit(&threads->writer->threads[slot].own, (uint64_t)sampled->own,
                              memory_order_relaxed);
        atomic_fetch_add_explicit(threads_live(threads), 1, memory_order_relaxed);
        feed_writer_thread_publish(threads->writer, slot);
    }
}

void threads_stop(struct threads *threads)
{
    uint32_t used = atomic_load_explicit(&threads->used, memory_order_acquire);

    for (uint32_t slot = 1; slot < used; slot++)
        threads_leave(threads, slot);
}
