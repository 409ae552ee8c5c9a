#include "switches.h"

#include "../../capture/system/arch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The ring is one page behind the event's own. */
static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* The kernel writes registers in the order of their numbers. */
enum { RECORD_HEAD, RECORD_ABI, RECORD_FP, RECORD_SP, RECORD_PC, RECORD_WORDS };

static int open_event(int tid)
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
    return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void switches_open(struct switches *out, int tid, bool *refused)
{
    void *map = MAP_FAILED;
    int fd;

    *out = (struct switches){ -1, NULL };
    if (*refused)
        return;
    fd = open_event(tid);
    if (fd < 0) {
        *refused = errno == EACCES || errno == EPERM || errno == ENOSYS;
        return;
    }
    /* Not writable: then the kernel overwrites the oldest. */
    map = mmap(NULL, 2 * page_bytes(), PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        close(fd);
    else
        *out = (struct switches){ fd, map };
}

void switches_close(struct switches *switches)
{
    if (switches->map)
        munmap((void *)switches->map, 2 * page_bytes());
    if (switches->fd >= 0)
        close(switches->fd);
    *switches = (struct switches){ -1, NULL };
}

bool switches_fp(const struct switches *switches, uint64_t pc, uint64_t sp, uint64_t *fp)
{
    const struct perf_event_mmap_page *page = switches->map;
    const size_t bytes = page_bytes();
    const uint64_t *words;
    uint64_t record[RECORD_WORDS], head;

    if (!page)
        return false;
    words = (const uint64_t *)((const char *)page + bytes);
    head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < RECORD_WORDS; i++)
        record[i] = words[(head / 8 + i) % (bytes / sizeof(*words))];
    *fp = record[RECORD_FP];
    return (uint32_t)record[RECORD_HEAD] == PERF_RECORD_SAMPLE &&
           record[RECORD_ABI] == PERF_SAMPLE_REGS_ABI_64 && record[RECORD_SP] == sp &&
           record[RECORD_PC] == pc;
}
