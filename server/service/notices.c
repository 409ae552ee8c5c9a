#include "notices.h"

#include "../console/log_line.h"

#include "../../sampler/profile/snapshot.h"

#include <inttypes.h>
#include <stdlib.h>

static bool is_slower(const struct feed_status_view *status, uint32_t asked_us)
{
    return status->timer_reason != FEED_TIMER_REASON_NONE && status->true_period_us > asked_us;
}

/* What one process was refused all are; the rest is of this one. */
static bool is_of_one(enum feed_timer_reason reason)
{
    return reason == FEED_TIMER_REASON_TRACED || reason == FEED_TIMER_REASON_SIGNAL ||
           reason == FEED_TIMER_REASON_SWITCHES || reason == FEED_TIMER_REASON_NO_ROOM ||
           reason == FEED_TIMER_REASON_RIGHTS;
}

static void say_slower(const struct process_info *process, uint32_t asked_us)
{
#define REASON_TEXT(name, word, text) [FEED_TIMER_REASON_##name] = text,
    static const char *const texts[] = { FEED_TIMER_REASONS(REASON_TEXT) };
#undef REASON_TEXT
    const struct feed_status_view *status = &process->status;
    unsigned most = 1000000 / status->true_period_us, asked = 1000000 / asked_us;
    const char *text = texts[status->timer_reason];

    if (is_of_one(status->timer_reason))
        log_line("%s (%" PRId32
                 "): %s: CPU-time timers give at most %u samples per CPU second instead of %u",
                 process->name, process->pid, text, most, asked);
    else
        log_line("%s: CPU-time timers give at most %u samples per CPU second instead of %u", text,
                 most, asked);
}

static void say_faults_refused(struct timer_notices *notices, const struct process_info *process)
{
    if (notices->said_faults || process->status.faults_seen != FEED_FAULTS_REFUSED)
        return;
    notices->said_faults = true;
    log_line("%s (%" PRId32 "): page faults are not sampled: the kernel gives it no perf event",
             process->name, process->pid);
}

static void say_own_malloc(struct timer_notices *notices, const struct process_info *process)
{
    if (notices->said_own_malloc || process->status.allocations_seen != FEED_ALLOCATIONS_OWN)
        return;
    notices->said_own_malloc = true;
    log_line("%s (%" PRId32
             "): its allocations are not sampled, only what it maps: it defines malloc "
             "itself, and calls that. <isoscope/memory.h> is for such an allocator",
             process->name, process->pid);
}

void notice_timers(struct timer_notices *notices, struct profile *profile, uint32_t asked_us)
{
    size_t room = profile_processes(profile, NULL, 0);
    struct process_info *processes = calloc(room + 1, sizeof(*processes));
    size_t count = processes ? profile_processes(profile, processes, room) : 0;

    for (size_t i = 0; i < count && i < room; i++) {
        bool *said = &notices->said[processes[i].status.timer_reason];

        say_faults_refused(notices, &processes[i]);
        say_own_malloc(notices, &processes[i]);
        if (*said || !is_slower(&processes[i].status, asked_us))
            continue;
        *said = true;
        say_slower(&processes[i], asked_us);
    }
    free(processes);
}
