#include "event_clock.h"

#include "../../feed/sys.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>

enum {
    SPAN_NS = 1000 * 1000,
    SPAN_NS_MAX = 1000 * 1000 * 1000, /* what is older tells nothing of the speed now */
    TRIES = 3,
    /* Of the counter, around a look at the kernel's clock that nothing came between. */
    APART_MAX = 1500,
};

#if EVENT_CLOCK_HAS_COUNTER
#include <cpuid.h>

static SIGNAL_SAFE bool counter_is_invariant(void)
{
    unsigned int a, b, c, d = 0;

    __cpuid(0x80000000, a, b, c, d);
    if (a < 0x80000007)
        return false;
    __cpuid(0x80000007, a, b, c, d);
    return d & 1 << 8;
}

/* One that has found it wanting has taken another clock, which is told here. */
static SIGNAL_SAFE bool kernel_keeps_time_by_it(void)
{
    static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    char name[8] = { 0 };
    int fd = (int)sys_call4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);

    if (fd < 0)
        return false;
    sys_call3(SYS_read, fd, name, sizeof name - 1);
    sys_call1(SYS_close, fd);
    return memcmp(name, "tsc\n", 4) == 0;
}

/* For good: what the processor and the kernel say. */
static SIGNAL_SAFE bool counter_is_good(void)
{
    enum { NOT_ASKED, GOOD, NOT_GOOD };
    static _Atomic uint32_t known;

    if (atomic_load_explicit(&known, memory_order_relaxed) == NOT_ASKED)
        atomic_store_explicit(&known,
                              counter_is_invariant() && kernel_keeps_time_by_it() ? GOOD : NOT_GOOD,
                              memory_order_relaxed);
    return atomic_load_explicit(&known, memory_order_relaxed) == GOOD;
}
#else
static SIGNAL_SAFE bool counter_is_good(void)
{
    return false;
}
#endif

/* The counter when the clock was read: between two readings that are not far apart. 0: they were. */
static SIGNAL_SAFE uint64_t read_both(uint64_t *ns)
{
    for (int tries = 0; tries < TRIES; tries++) {
        uint64_t before = EVENT_CLOCK_COUNTER(), after;

        *ns = clock_ns(CLOCK_MONOTONIC);
        after = EVENT_CLOCK_COUNTER();
        if (after - before < APART_MAX)
            return before + (after - before) / 2;
    }
    return 0;
}

/* The speed is that since the look before, if that was not too long ago, nor just now. */
static SIGNAL_SAFE void follow(struct event_clock *clock, uint64_t counter, uint64_t ns)
{
    uint64_t counts = counter - clock->looked_at, passed_ns = ns - clock->looked_ns;

    if (clock->looked_ns && ns > clock->looked_ns && passed_ns <= SPAN_NS_MAX && counts) {
        if (passed_ns < SPAN_NS)
            return; /* the speed is not known yet, or this look was not due */
        clock->speed = (passed_ns << 32) / counts;
        clock->span = clock->speed ? ((uint64_t)SPAN_NS << 32) / clock->speed : 0;
    } else {
        clock->span = 0;
    }
    clock->looked_at = counter;
    clock->looked_ns = ns;
}

uint64_t event_clock_look(struct event_clock *clock)
{
    uint64_t ns, counter;

    if (atomic_load_explicit(&clock_asks_kernel, memory_order_relaxed) || !counter_is_good()) {
        clock->span = 0;
        ns = clock_ns(CLOCK_MONOTONIC);
    } else {
        counter = read_both(&ns);
        if (counter)
            follow(clock, counter, ns);
    }
    if (ns > clock->last_ns)
        clock->last_ns = ns;
    return clock->last_ns;
}
