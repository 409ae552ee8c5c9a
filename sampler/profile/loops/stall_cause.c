#include "stall_cause.h"

static const enum stall_cause causes[CALL_WAITS_COUNT] = {
    [CALL_WAITS_IO] = STALL_CAUSE_IO,       [CALL_WAITS_LOCK] = STALL_CAUSE_LOCK,
    [CALL_WAITS_SLEEP] = STALL_CAUSE_SLEEP, [CALL_WAITS_CHILD] = STALL_CAUSE_CHILD,
    [CALL_WAITS_FAULT] = STALL_CAUSE_FAULT,
};

static enum stall_cause cause_of_sleep(const struct stall_looks *looks)
{
    enum call_waits longest = CALL_WAITS_IO;
    uint64_t seen_ns = 0;

    for (int waits = 0; waits < CALL_WAITS_COUNT; waits++) {
        seen_ns += looks->waits_ns[waits];
        if (looks->waits_ns[waits] > looks->waits_ns[longest])
            longest = (enum call_waits)waits;
    }
    /* Pages come one after the other, each soon: looks meet the thread between them. */
    if (looks->faults && looks->sleeping_ns / 2 > seen_ns)
        return STALL_CAUSE_FAULT;
    return seen_ns ? causes[longest] : STALL_CAUSE_UNKNOWN;
}

/* It wanted no processor, so it does not matter that there was none, as long as a look saw what it slept in. */
static bool slept_anyway(const struct stall_looks *looks, uint64_t duration_ns)
{
    return looks->sleeping_ns >= duration_ns / 4 * 3 &&
           cause_of_sleep(looks) != STALL_CAUSE_UNKNOWN;
}

enum stall_cause stall_cause_of(const struct stall_looks *looks, int64_t duration_ns,
                                uint64_t host_late_ns)
{
    uint64_t run_ns = looks->running_ns, wait_ns = looks->runnable_ns;
    uint64_t sleep_ns = looks->sleeping_ns, all_ns = run_ns + wait_ns + sleep_ns;

    if (looks->stopped_ns > all_ns / 2)
        return STALL_CAUSE_STOPPED;
    if (duration_ns > 0 && host_late_ns >= (uint64_t)duration_ns / 2 &&
        !slept_anyway(looks, (uint64_t)duration_ns))
        return STALL_CAUSE_HOST;
    if (!all_ns)
        return STALL_CAUSE_UNKNOWN;
    if (sleep_ns > run_ns && sleep_ns > wait_ns)
        return cause_of_sleep(looks);
    return run_ns > wait_ns ? STALL_CAUSE_BUSY : STALL_CAUSE_STARVED;
}
