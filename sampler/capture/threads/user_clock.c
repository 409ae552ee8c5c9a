#include "user_clock.h"

#include "perf_trap.h"

#include "../../feed/sys.h"
#include "../system/pages.h"

#include <linux/perf_event.h>

/* Work that repeats in step with the period would be met at the same place each time: ticks come
 * more often by so much, and those that stand for too little are left out (account.h). */
enum { NS_OF_US = 1000 - 38 };

enum { HEAD_BYTES = 4096 }; /* of an event's memory: one page, whatever its size */

static SIGNAL_SAFE long open_event(int tid, uint32_t period_us, bool inherited, bool runs)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    attr.sample_period = (uint64_t)period_us * NS_OF_US;
    attr.disabled = !runs;
    attr.exclude_kernel = attr.exclude_hv = 1;
    attr.inherit = attr.inherit_thread = inherited;
    attr.sigtrap = attr.remove_on_exec = 1;
    attr.sig_data = PERF_TRAP_CLOCK | period_us;
    return sys_call5(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

long user_clock_open(int tid, uint32_t period_us, bool runs)
{
    return open_event(tid, period_us, true, runs);
}

/* The mapping holds the event; the kernel maps none that is inherited. */
void *user_clock_of_page(uint32_t period_us)
{
    long fd = open_event(0, period_us, false, true), page;

    if (fd < 0)
        return NULL;
    page = sys_call6(SYS_mmap, 0, HEAD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    sys_call1(SYS_close, fd);
    return pages_failed(page) ? NULL : (void *)page;
}

void user_clock_end_page(void *page)
{
    if (page)
        sys_call2(SYS_munmap, page, HEAD_BYTES);
}

void user_clock_set_period(int fd, uint32_t period_us)
{
    uint64_t period_ns = (uint64_t)period_us * NS_OF_US;

    sys_call3(SYS_ioctl, fd, PERF_EVENT_IOC_PERIOD, &period_ns);
}

void user_clock_run(int fd, bool runs)
{
    sys_call3(SYS_ioctl, fd, runs ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

uint32_t user_clock_of_trap(const void *siginfo)
{
    return perf_trap_of(siginfo, PERF_TRAP_CLOCK);
}
