#include "perf_events.h"

#include "perf_registers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    RING_PAGES_MAX = 1024,
    MACHINE_RING_PAGES = 4096,
    ROUND = 64,
    WAKE_PART = 4,
    EVERYBODY = -1
};

static void ask_switches(const struct perf_events *events, struct perf_event_attr *attr)
{
    attr->type = events->wish.tracepoint ? PERF_TYPE_TRACEPOINT : PERF_TYPE_SOFTWARE;
    attr->config =
        events->wish.tracepoint ? events->wish.tracepoint : PERF_COUNT_SW_CONTEXT_SWITCHES;
    attr->sample_period = 1;
    attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attr->sample_type |= events->wish.tracepoint ? (uint64_t)PERF_SAMPLE_RAW : 0;
    attr->context_switch = 1;
    attr->sample_id_all = 1;
}

static void ask_clock(const struct perf_events *events, struct perf_event_attr *attr)
{
    attr->type = PERF_TYPE_SOFTWARE;
    attr->config = PERF_COUNT_SW_TASK_CLOCK;
    attr->sample_period = events->wish.period_us * UINT64_C(1000);
    attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attr->exclude_kernel = events->no_kernel;
    attr->task = attr->comm = attr->comm_exec = attr->mmap = attr->mmap2 = 1;
}

/* Of a processor, whoever has it; but for when nobody does. */
static void ask_machine(const struct perf_events *events, struct perf_event_attr *attr)
{
    ask_clock(events, attr);
    attr->config = PERF_COUNT_SW_CPU_CLOCK;
    attr->exclude_idle = 1;
    attr->inherit = 0;
}

static void ask_wakeups(const struct perf_events *events, struct perf_event_attr *attr)
{
    attr->type = PERF_TYPE_TRACEPOINT;
    attr->config = events->wish.tracepoint;
    attr->sample_period = 1;
    attr->sample_type |= PERF_SAMPLE_RAW;
}

static struct perf_event_attr attributes(const struct perf_events *events)
{
    static void (*const ask[])(const struct perf_events *, struct perf_event_attr *) = {
        [PERF_CLOCK] = ask_clock,
        [PERF_MACHINE] = ask_machine,
        [PERF_SWITCHES] = ask_switches,
        [PERF_WAKEUPS] = ask_wakeups,
    };
    struct perf_event_attr attr = {
        .size = sizeof(attr),
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
        .inherit = 1,
        .exclude_hv = 1,
        .exclude_guest = 1,
        .watermark = 1,
        .wakeup_watermark = 256 * 1024,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };

    ask[events->wish.what](events, &attr);
    if (events->wish.kernel) {
        attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
        attr.exclude_callchain_user = 1;
    }
    if (attr.sample_type & PERF_SAMPLE_STACK_USER) {
        attr.sample_regs_user = PERF_REGISTERS_MASK;
        attr.sample_stack_user = events->wish.stack_bytes;
    }
    return attr;
}

static int open_event(struct perf_events *events, pid_t tid, uint32_t processor)
{
    struct perf_event_attr attr = attributes(events);
    long fd = syscall(SYS_perf_event_open, &attr, tid, (int)processor, -1, PERF_FLAG_FD_CLOEXEC);

    if (fd < 0 && (errno == EACCES || errno == EPERM) && events->wish.what == PERF_CLOCK &&
        !events->no_kernel && !events->wish.kernel) {
        events->no_kernel = true;
        return open_event(events, tid, processor);
    }
    return (int)fd;
}

static bool keep(struct perf_events *events, int fd)
{
    if (events->fd_count == events->fd_room) {
        size_t room = events->fd_room + ROUND;
        int *grown = reallocarray(events->fds, room, sizeof(*grown));

        if (!grown)
            return false;
        events->fds = grown;
        events->fd_room = room;
    }
    events->fds[events->fd_count++] = fd;
    return true;
}

int perf_events_open(struct perf_events *events, const struct perf_wish *wish)
{
    long processors = sysconf(_SC_NPROCESSORS_CONF);

    *events = (struct perf_events){ .wish = *wish };
    events->processors = processors > 0 ? (uint32_t)processors : 1;
    events->rings = calloc(events->processors, sizeof(*events->rings));
    events->ring_fds = calloc(events->processors, sizeof(*events->ring_fds));
    if (!events->rings || !events->ring_fds)
        return ENOMEM;
    for (uint32_t i = 0; i < events->processors; i++)
        events->ring_fds[i] = -1;
    return 0;
}

void perf_events_close(struct perf_events *events)
{
    for (size_t i = 0; i < events->fd_count; i++)
        close(events->fds[i]);
    for (uint32_t i = 0; events->rings && i < events->processors; i++)
        perf_ring_close(&events->rings[i]);
    free(events->fds);
    free(events->rings);
    free(events->ring_fds);
    *events = (struct perf_events){ 0 };
}

/* The first event of a processor has its ring; the others write there too. */
static int join_ring(struct perf_events *events, int fd, uint32_t processor)
{
    int problem;

    if (events->ring_fds[processor] >= 0)
        return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, events->ring_fds[processor]) < 0 ? errno : 0;
    problem =
        perf_ring_open(&events->rings[processor], fd,
                       events->wish.what == PERF_MACHINE ? MACHINE_RING_PAGES : RING_PAGES_MAX);
    if (!problem)
        events->ring_fds[processor] = fd;
    return problem;
}

static int add(struct perf_events *events, pid_t tid, uint32_t processor)
{
    int fd = open_event(events, tid, processor), problem;

    if (fd < 0)
        return errno == ENODEV ? 0 : errno; /* the processor is switched off */
    problem = join_ring(events, fd, processor);
    if (!problem && !keep(events, fd))
        problem = ENOMEM;
    if (problem)
        close(fd);
    return problem;
}

int perf_events_add(struct perf_events *events, pid_t tid)
{
    int problem = 0;

    for (uint32_t processor = 0; !problem && processor < events->processors; processor++)
        problem = add(events, tid, processor);
    return problem;
}

int perf_events_add_all(struct perf_events *events)
{
    return perf_events_add(events, EVERYBODY);
}

void perf_events_set_period(struct perf_events *events, uint64_t period)
{
    for (size_t i = 0; i < events->fd_count; i++)
        ioctl(events->fds[i], PERF_EVENT_IOC_PERIOD, &period);
}
