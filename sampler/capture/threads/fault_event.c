#include "fault_event.h"

#include "../../feed/sys.h"

#include <linux/perf_event.h>

long fault_event_open(uint32_t faults)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_PAGE_FAULTS;
    attr.sample_period = faults;
    attr.exclude_kernel = attr.exclude_hv = 1;
    attr.inherit = attr.inherit_thread = 1;
    attr.sigtrap = attr.remove_on_exec = 1;
    attr.sig_data = PERF_TRAP_FAULTS | faults;
    return sys_call5(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}
