/*
 * tick_floor.c - what a tick costs before anybody walks a stack, and which part of it is whose.
 *
 *     tick_floor [PERIOD_US]
 *
 * The same loop with each way of being interrupted, in turn; the median over the rounds of the CPU
 * time that one tick adds. The second row is the same as the first: the noise.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 15, STEPS = 60000000, RING_BYTES = 17 * 4096, NS_PER_US = 1000 };

struct way {
    const char *name;
    bool event, ring, async, handled, trap, exclude_kernel;
};

static const struct way ways[] = {
    { .name = "nothing" },
    { .name = "nothing, again" },
    { .name = "interrupt alone", .event = true },
    { .name = "interrupt, record into a ring", .event = true, .ring = true },
    { .name = "F_SETSIG, ignored", .event = true, .async = true },
    { .name = "F_SETSIG, empty handler", .event = true, .async = true, .handled = true },
    { .name = "sigtrap, empty handler", .event = true, .trap = true, .exclude_kernel = true },
};

enum { WAYS = sizeof ways / sizeof ways[0] };

static void handle(int number)
{
    (void)number;
}

static double cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void work(void)
{
    uint32_t state = 1;

    for (int i = 0; i < STEPS; i++)
        __asm__ volatile("" : "+r"(state));
}

static int open_event(const struct way *way, uint64_t period_ns)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    attr.sample_period = period_ns;
    attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    attr.disabled = 1;
    attr.exclude_kernel = way->exclude_kernel;
    attr.wakeup_events = 1;
    attr.sigtrap = way->trap;
    attr.remove_on_exec = way->trap;
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int deliver(int fd, const struct way *way)
{
    struct f_owner_ex owner = { F_OWNER_TID, (pid_t)syscall(SYS_gettid) };

    signal(SIGTRAP, handle);
    signal(SIGURG, way->handled ? handle : SIG_IGN);
    if (way->ring &&
        mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED)
        return -1;
    if (!way->async)
        return 0;
    return fcntl(fd, F_SETOWN_EX, &owner) | fcntl(fd, F_SETSIG, SIGURG) |
           fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK);
}

/* CPU time of the loop, in ns; negative: the kernel refuses this way. */
static double run(const struct way *way, uint64_t period_ns)
{
    int fd = way->event ? open_event(way, period_ns) : -1;
    double before, after;

    if (way->event && (fd < 0 || deliver(fd, way) < 0))
        return -1;
    if (fd >= 0)
        ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    before = cpu_ns();
    work();
    after = cpu_ns();
    if (fd >= 0) {
        ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
        close(fd);
    }
    return after - before;
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
    uint64_t period_ns = (argc > 1 ? strtoull(argv[1], NULL, 10) : 100) * NS_PER_US;
    static double extra_us[WAYS][ROUNDS];
    bool refused[WAYS] = { false };

    for (int round = 0; round < ROUNDS; round++) {
        double plain = 0;

        for (int i = 0; i < WAYS; i++) {
            double ns = run(&ways[i], period_ns);

            plain = i == 0 ? ns : plain;
            refused[i] |= ns < 0;
            extra_us[i][round] = (ns - plain) / (ns / (double)period_ns) / NS_PER_US;
        }
    }
    printf("one tick at %.0f us, us of CPU time, median of %d\n", (double)period_ns / NS_PER_US,
           ROUNDS);
    for (int i = 1; i < WAYS; i++) {
        qsort(extra_us[i], ROUNDS, sizeof extra_us[i][0], by_value);
        if (refused[i])
            printf("  %-32s refused\n", ways[i].name);
        else
            printf("  %-32s %6.2f\n", ways[i].name, extra_us[i][ROUNDS / 2]);
    }
    return 0;
}
