#include "switches.h"

#include "../../feed/sys.h"
#include "../system/arch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096, KEPT_FDS_MAX = 512 /* the program's limit holds for our table too */ };

/* The kernel writes registers in the order of their numbers. */
enum { RECORD_HEAD, RECORD_ABI, RECORD_FP, RECORD_SP, RECORD_PC, RECORD_WORDS };

static bool refused; /* for want of rights, for good */

static long open_event(int tid)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
    attr.sample_period = 1;
    attr.sample_type = PERF_SAMPLE_REGS_USER;
    attr.sample_regs_user = ARCH_PERF_REGS;
    attr.write_backward = 1;
    return sys_call5(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void switches_open(struct switches *out, int tid)
{
    long fd = refused ? -EACCES : open_event(tid), map = -1;

    *out = (struct switches){ -1, NULL };
    refused |= fd == -EACCES || fd == -EPERM || fd == -ENOSYS;
    if (fd < 0)
        return;
    /* Not writable: then the kernel overwrites the oldest. */
    if (fd < KEPT_FDS_MAX)
        map = sys_call6(SYS_mmap, 0, 2 * PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    if (map < 0 && map > -PAGE_BYTES)
        sys_call1(SYS_close, fd);
    else
        *out = (struct switches){ (int)fd, (const void *)map };
}

void switches_close(struct switches *switches)
{
    if (switches->map)
        sys_call2(SYS_munmap, switches->map, 2 * PAGE_BYTES);
    if (switches->fd >= 0)
        sys_call1(SYS_close, switches->fd);
    *switches = (struct switches){ -1, NULL };
}

bool switches_fp(const struct switches *switches, uint64_t pc, uint64_t sp, uint64_t *fp)
{
    const struct perf_event_mmap_page *page = switches->map;
    const uint64_t *words = (const uint64_t *)((const char *)page + PAGE_BYTES);
    uint64_t record[RECORD_WORDS], head;

    if (!page)
        return false;
    head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < RECORD_WORDS; i++)
        record[i] = words[(head / 8 + i) % (PAGE_BYTES / 8)];
    *fp = record[RECORD_FP];
    return (uint32_t)record[RECORD_HEAD] == PERF_RECORD_SAMPLE &&
           record[RECORD_ABI] == PERF_SAMPLE_REGS_ABI_64 && record[RECORD_SP] == sp &&
           record[RECORD_PC] == pc;
}
