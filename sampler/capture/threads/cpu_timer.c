#include "cpu_timer.h"

#include "../../feed/layout.h"
#include "../../feed/sys.h"

#include <signal.h>
#include <string.h>
#include <time.h>

enum { NS_PER_US = 1000, US_PER_S = 1000000, RESTING_NS = 250 * 1000 * 1000 };

/* Its address tells our timers' signals from the program's. */
static char mark;

/* The CPU clock of one thread, as the kernel encodes it. */
SIGNAL_SAFE_INLINE int thread_clock(int tid)
{
    return (int)(~(unsigned)tid << 3 | 4 | 2);
}

long cpu_timer_open(int tid, int signal_number)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
                              .sigev_signo = signal_number,
                              .sigev_value.sival_ptr = &mark };
    int id;
    long error;

    event._sigev_un._tid = tid;
    error = sys_call3(SYS_timer_create, thread_clock(tid), &event, &id);
    return error < 0 ? error : id;
}

/* So short that each kernel tick finds it over. */
void cpu_timer_run(int id, bool runs)
{
    const struct timespec moment = { 0, runs ? NS_PER_US : RESTING_NS };
    const struct itimerspec spec = { moment, moment };

    sys_call4(SYS_timer_settime, id, 0, &spec, 0);
}

void cpu_timer_close(int id)
{
    sys_call1(SYS_timer_delete, id);
}

bool cpu_timer_is_tick(const void *siginfo)
{
    const siginfo_t *info = siginfo;

    return info->si_code == SI_TIMER && info->si_value.sival_ptr == &mark;
}

uint32_t cpu_timer_period_us(void)
{
    struct timespec tick;

    /* The coarse clock moves once a kernel tick. */
    if (sys_call2(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, &tick) < 0)
        return FEED_PERIOD_MAX_US;
    return (uint32_t)(tick.tv_sec * US_PER_S + tick.tv_nsec / NS_PER_US);
}

/* Straight to the kernel: libc would set errno for a thread that has gone. */
uint64_t cpu_timer_thread_ns(int tid)
{
    struct timespec now;

    if (sys_call2(SYS_clock_gettime, thread_clock(tid), &now) < 0)
        return 0;
    return (uint64_t)now.tv_sec * US_PER_S * NS_PER_US + (uint64_t)now.tv_nsec;
}
