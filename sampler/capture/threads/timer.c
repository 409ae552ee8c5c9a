#include "timer.h"

#include "../../feed/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum { NS_PER_US = 1000, US_PER_S = 1000000 };

/* The CPU clock of one thread, as the kernel encodes it. */
static int thread_clock(int tid)
{
    return (int)(~(unsigned)tid << 3 | 4 | 2);
}

/* In the upper half of a trap's data: it tells our traps from others. */
static const uint64_t trap_mark = UINT64_C(0x69736f73) << 32;

static long open_event(int tid, bool exclude_kernel, bool trap, uint32_t slot)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    attr.sample_period = (uint64_t)US_PER_S * NS_PER_US; /* timer_set gives the real one */
    attr.disabled = 1;
    attr.exclude_kernel = exclude_kernel;
    attr.exclude_hv = 1;
    attr.wakeup_events = 1;
    attr.sigtrap = trap;
    attr.remove_on_exec = trap; /* the kernel wants both or none */
    attr.sig_data = trap ? trap_mark | slot : 0;
    return sys_call5(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool for_want_of_rights(long error)
{
    return error == -EACCES || error == -EPERM;
}

/* -EMFILE and the like are one thread's bad luck; these hold for the whole process. */
static bool for_good(long error)
{
    return for_want_of_rights(error) || error == -ENOSYS || error == -ENOENT ||
           error == -EOPNOTSUPP;
}

static int signal_by(long fd, int tid, int signal_number)
{
    struct f_owner_ex owner = { F_OWNER_TID, tid };

    if (sys_call3(SYS_fcntl, fd, F_SETOWN_EX, &owner) < 0 ||
        sys_call3(SYS_fcntl, fd, F_SETSIG, signal_number) < 0 ||
        sys_call3(SYS_fcntl, fd, F_SETFL, O_ASYNC | O_NONBLOCK) < 0) {
        sys_call1(SYS_close, fd);
        return -EIO;
    }
    return 0;
}

static bool traps(const struct timer_rights *rights)
{
    return rights->trap && (rights->exclude_kernel || rights->trap_in_kernel);
}

static int open_perf(struct timer *out, struct timer_rights *rights, int tid, int signal_number,
                     uint32_t slot)
{
    long fd;
    int error;

    if (rights->wish == FEED_TIMER_WISH_SIGTRAP && rights->trap && !rights->trap_in_kernel)
        rights->exclude_kernel = true;
    fd = open_event(tid, rights->exclude_kernel, traps(rights), slot);
    if (for_want_of_rights(fd) && !rights->exclude_kernel) {
        rights->exclude_kernel = true;
        fd = open_event(tid, true, traps(rights), slot);
    }
    if (fd < 0) {
        rights->no_perf = for_good(fd);
        return (int)fd;
    }
    if (traps(rights)) {
        rights->kernel_traps |= !rights->exclude_kernel;
        *out = (struct timer){ FEED_TIMER_PERF_TRAP, (int)fd, 0 };
        return 0;
    }
    error = signal_by(fd, tid, signal_number);
    if (!error)
        *out = (struct timer){ FEED_TIMER_PERF_SIGNAL, (int)fd, 0 };
    return error;
}

static int open_cpu_clock(struct timer *out, int tid, int signal_number, uint32_t slot)
{
    struct sigevent event;
    int id;
    long error;

    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = signal_number;
    event.sigev_value.sival_int = (int)slot;
    event._sigev_un._tid = tid;
    error = sys_call3(SYS_timer_create, thread_clock(tid), &event, &id);
    if (error < 0)
        return (int)error;
    *out = (struct timer){ FEED_TIMER_CPU_CLOCK, id, 0 };
    return 0;
}

int timer_open(struct timer *out, struct timer_rights *rights, int tid, int signal_number,
               uint32_t slot)
{
    *out = (struct timer){ FEED_TIMER_NONE, -1, 0 };
    if (rights->wish == FEED_TIMER_WISH_INTERRUPTER) {
        *out = (struct timer){ FEED_TIMER_INTERRUPTER, tid, 0 };
        return 0;
    }
    if (!rights->no_perf && rights->wish != FEED_TIMER_WISH_CPU &&
        open_perf(out, rights, tid, signal_number, slot) == 0)
        return 0;
    return open_cpu_clock(out, tid, signal_number, slot);
}

static bool is_perf(const struct timer *timer)
{
    return timer->kind == FEED_TIMER_PERF_SIGNAL || timer->kind == FEED_TIMER_PERF_TRAP;
}

/* Work that repeats in step with the period would be met at the same place each time. So the kernel
 * gets a period about 1 % shorter than asked, not the same for all threads: the place moves on by
 * as much with each tick, and within a hundred ticks every place was met. */
static void set_perf(struct timer *timer, uint32_t period_us)
{
    uint64_t period_ns = (uint64_t)period_us * (NS_PER_US - 9 - (unsigned)timer->id % 8 / 2);

    if (!period_us) {
        sys_call3(SYS_ioctl, timer->id, PERF_EVENT_IOC_DISABLE, 0);
        return;
    }
    if (period_us != timer->perf_us) /* it would begin the period anew */
        sys_call3(SYS_ioctl, timer->id, PERF_EVENT_IOC_PERIOD, &period_ns);
    timer->perf_us = period_us;
    sys_call3(SYS_ioctl, timer->id, PERF_EVENT_IOC_ENABLE, 0);
}

static struct timespec timespec_of(uint32_t us)
{
    return (struct timespec){ us / US_PER_S, us % US_PER_S * NS_PER_US };
}

static void set_cpu_clock(int id, uint32_t first_us, uint32_t period_us)
{
    struct itimerspec spec = { timespec_of(period_us), timespec_of(first_us) };

    sys_call4(SYS_timer_settime, id, 0, &spec, 0);
}

void timer_set(struct timer *timer, uint32_t period_us)
{
    if (is_perf(timer))
        set_perf(timer, period_us);
    else if (timer->kind == FEED_TIMER_CPU_CLOCK)
        set_cpu_clock(timer->id, period_us, period_us);
}

bool timer_start(struct timer *timer, uint32_t first_us, uint32_t period_us)
{
    if (is_perf(timer) && period_us) {
        set_perf(timer, first_us);
        return true;
    }
    if (timer->kind == FEED_TIMER_CPU_CLOCK)
        set_cpu_clock(timer->id, period_us ? first_us : 0, period_us);
    return false;
}

void timer_close(struct timer *timer)
{
    if (is_perf(timer))
        sys_call1(SYS_close, timer->id);
    else if (timer->kind == FEED_TIMER_CPU_CLOCK)
        sys_call1(SYS_timer_delete, timer->id);
    *timer = (struct timer){ FEED_TIMER_NONE, -1, 0 };
}

/* Straight to the kernel: libc would set errno for a thread that has gone. */
uint64_t timer_thread_cpu_ns(int tid)
{
    struct timespec now;

    if (sys_call2(SYS_clock_gettime, thread_clock(tid), &now) < 0)
        return 0;
    return (uint64_t)now.tv_sec * US_PER_S * NS_PER_US + (uint64_t)now.tv_nsec;
}

void timer_interrupt(int tid, int signal_number, uint32_t slot)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    info.si_signo = signal_number;
    info.si_code = SI_QUEUE;
    info.si_pid = (int)sys_call0(SYS_getpid);
    info.si_value.sival_int = (int)slot;
    sys_call4(SYS_rt_tgsigqueueinfo, info.si_pid, tid, signal_number, &info);
}

uint32_t timer_slot_of_trap(const void *siginfo)
{
    /* si_perf_data, which libc's siginfo_t does not know yet: it follows si_addr. */
    enum { TRAP_CODE_PERF = 6, PERF_DATA_AT = 24 };
    const siginfo_t *info = siginfo;
    uint64_t data;

    if (info->si_code != TRAP_CODE_PERF)
        return 0;
    memcpy(&data, (const char *)siginfo + PERF_DATA_AT, sizeof data);
    return data >> 32 == trap_mark >> 32 ? (uint32_t)data : 0;
}

uint32_t timer_floor_us(enum feed_timer kind)
{
    struct timespec tick;

    if (kind != FEED_TIMER_CPU_CLOCK)
        return FEED_PERIOD_MIN_US;
    /* The coarse clock moves once a kernel tick. */
    if (sys_call2(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, &tick) < 0)
        return FEED_PERIOD_MAX_US;
    return (uint32_t)(tick.tv_sec * US_PER_S + tick.tv_nsec / NS_PER_US);
}
