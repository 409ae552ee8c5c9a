#include "sampler_state.h"

#include "system/clock.h"

#include "../feed/sys.h"

#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum {
    KERNEL_SIGSET_BYTES = 8,
    LOCK_WAIT_NS = 100 * 1000 * 1000, /* so long at most */
    CLOCK_LOOK_NS = 50 * 1000,
    CLOCK_LOOKS = 4000,
};

/* What is large in it is made when it starts: static memory is read by programs' collectors. */
struct sampler sampler;

/* A service of many users has a file for each: where one is found, it is the one from then on. A
 * process may have another user by then. */
void sampler_open_tables(void)
{
    char users[sizeof sampler.address.tables];

    if (shared_tables_open(&sampler.modules.tables, sampler.address.tables))
        return;
    uplink_tables_of_user(users, &sampler.address, (uint32_t)sys_call0(SYS_geteuid));
    if (shared_tables_open(&sampler.modules.tables, users))
        memcpy(sampler.address.tables, users, sizeof users);
}

/* The service sleeps at the beginning of the tables' file, which all programs map: no descriptor is
 * needed to wake it. One that does not sleep just now looks soon by itself. */
void sampler_ask_service(void)
{
    _Atomic uint32_t *bell = (_Atomic uint32_t *)sampler.modules.tables.first_page;

    atomic_fetch_add_explicit(&sampler.writer.header->status.asks, 1, memory_order_release);
    if (bell)
        sys_futex(bell, FUTEX_WAKE, 1, NULL);
}

void sampler_follow_watch(void)
{
    atomic_store_explicit(
        &sampler.watch_loops,
        atomic_load_explicit(&sampler.writer.header->control.watch_loops, memory_order_relaxed),
        memory_order_relaxed);
}

void sampler_note_cpu_time(void)
{
    atomic_store_explicit(&sampler.writer.header->status.cpu_ns,
                          clock_kernel_ns(CLOCK_PROCESS_CPUTIME_ID) - sampler.before_ns,
                          memory_order_relaxed);
}

void sampler_modules_go(void)
{
    if (sampler.pid != (int32_t)sys_call0(SYS_getpid))
        return;
    atomic_fetch_add_explicit(&sampler.modules.maps.unloads, 1, memory_order_release);
    if (!sampler_enter())
        return;
    atomic_fetch_add_explicit(&sampler.writer.header->status.unloads, 1, memory_order_release);
    sampler_leave();
}

bool sampler_running(void)
{
    return atomic_load_explicit(&sampler.running, memory_order_acquire) == RUN_ON &&
           sampler.pid == (int32_t)sys_call0(SYS_getpid);
}

bool sampler_has_ticks(void)
{
    return atomic_load_explicit(&sampler.running, memory_order_acquire) != RUN_STOPPED &&
           sampler.pid == (int32_t)sys_call0(SYS_getpid);
}

bool sampler_enter(void)
{
    atomic_fetch_add_explicit(&sampler.handlers, 1, memory_order_seq_cst);
    if (sampler_running())
        return true;
    sampler_leave();
    return false;
}

void sampler_leave(void)
{
    atomic_fetch_sub_explicit(&sampler.handlers, 1, memory_order_release);
}

/* ---- the lock ---- */

enum { FREE, TAKEN, AWAITED }; /* awaited: somebody sleeps until it is free, or did */

bool sampler_try_lock(void)
{
    uint32_t is_free = FREE;

    return atomic_compare_exchange_strong_explicit(&sampler.locked, &is_free, TAKEN,
                                                   memory_order_acquire, memory_order_relaxed);
}

static bool lock_or_await(void)
{
    return sampler_try_lock() ||
           atomic_exchange_explicit(&sampler.locked, AWAITED, memory_order_acquire) == FREE;
}

void sampler_unlock(void)
{
    if (atomic_exchange_explicit(&sampler.locked, FREE, memory_order_release) == AWAITED)
        sys_futex(&sampler.locked, FUTEX_WAKE_PRIVATE, 1, NULL);
}

/* A signal handler of the program's that wants the same would wait for itself. */
bool sampler_lock(uint64_t *mask)
{
    const struct timespec wait = { 0, LOCK_WAIT_NS };
    const uint64_t all = ~UINT64_C(0);

    sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &all, mask, KERNEL_SIGSET_BYTES);
    for (int tries = 0; !lock_or_await(); tries++) {
        if (tries) {
            sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, mask, 0, KERNEL_SIGSET_BYTES);
            return false;
        }
        sys_futex(&sampler.locked, FUTEX_WAIT_PRIVATE, AWAITED, &wait);
    }
    return true;
}

void sampler_unlock_to(const uint64_t *mask)
{
    sampler_unlock();
    sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, mask, 0, KERNEL_SIGSET_BYTES);
}

void sampler_await_clock_stop(void)
{
    const struct timespec moment = { 0, CLOCK_LOOK_NS };
    const struct feed_control *control = &sampler.writer.header->control;

    if (!atomic_load(&sampler.writer.header->status.clock_period_us))
        return;
    sampler_ask_service();
    for (int looks = 0; looks < CLOCK_LOOKS && atomic_load(&control->clock_runs); looks++)
        sys_call2(SYS_nanosleep, &moment, 0);
}
