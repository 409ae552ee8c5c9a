#include "ping.h"

/* In the slice in which it answered it runs on for a moment; more than that is work. */
static const uint64_t tail_ns = 1000000;

static bool has_run(const struct thread_clock *before, const struct thread_clock *now)
{
    return now->slices != before->slices ? now->run_ns != before->run_ns
                                         : now->run_ns > before->run_ns + tail_ns;
}

int64_t ping_next_ns(const struct ping *ping, int64_t every_ns)
{
    return ping->looked_ns + every_ns;
}

bool ping_is_due(struct ping *ping, const struct thread_clock *clock, int64_t now_ns)
{
    ping->looked_ns = now_ns;
    if (!ping->clocked)
        ping_rests(ping, clock);
    ping->due = !ping->out && has_run(&ping->rested, clock);
    if (!ping->due && !ping->out)
        ping->rested_ns = now_ns - (int64_t)tail_ns;
    return ping->due;
}

void ping_ask(struct ping *ping, int64_t now_ns)
{
    ping->asked++;
    ping->out = true;
    ping->posted = ping->due = ping->clocked = false;
    ping->looked_ns = now_ns;
}

void ping_rests(struct ping *ping, const struct thread_clock *clock)
{
    ping->rested = *clock;
    ping->clocked = true;
}

bool ping_answered(struct ping *ping, uint32_t asked, uint32_t posted, uint32_t seen,
                   int64_t before_ns)
{
    ping->posted |= posted == asked;
    if (!ping->out || seen != asked)
        return false;
    ping->out = false;
    ping->rested_ns = before_ns;
    return true;
}

struct stall_range ping_began(const struct ping *ping, int64_t at_most_ns)
{
    int64_t least_ns =
        ping->rested_ns && ping->rested_ns < at_most_ns ? ping->rested_ns : at_most_ns;

    return (struct stall_range){ least_ns, at_most_ns };
}

uint64_t ping_mark(const struct ping *ping)
{
    return ping->asked * 2 - ping->out;
}
