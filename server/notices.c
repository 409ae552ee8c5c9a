#include "notices.h"

#include "say.h"

#include "../sampler/profile/snapshot.h"

#include <stdlib.h>

enum { PROCESSES_MAX = 64 }; /* what one was refused, all are */

static bool is_known(const struct process_info *process)
{
    return process->status.timer != FEED_TIMER_NONE && process->status.true_period_us != 0;
}

static void say_slower(const struct feed_status_view *status, uint32_t asked_us)
{
#define REASON_TEXT(name, word, text) [FEED_TIMER_REASON_##name] = text,
    static const char *const texts[] = { FEED_TIMER_REASONS(REASON_TEXT) };
#undef REASON_TEXT

    if (status->timer_reason == FEED_TIMER_REASON_NONE || status->true_period_us <= asked_us)
        return;
    say("%s: CPU-time timers give at most %u samples per CPU second, not the asked %u",
        texts[status->timer_reason], 1000000 / status->true_period_us, 1000000 / asked_us);
}

bool notice_timer(struct profile *profile, uint32_t asked_us)
{
    struct process_info *processes = calloc(PROCESSES_MAX, sizeof(*processes));
    size_t count = processes ? profile_processes(profile, processes, PROCESSES_MAX) : 0;
    bool known = false;

    for (size_t i = 0; i < count && i < PROCESSES_MAX && !known; i++) {
        known = is_known(&processes[i]);
        if (known)
            say_slower(&processes[i].status, asked_us);
    }
    free(processes);
    return known;
}

void notice_no_hello(const char *program)
{
    say("%s ended without a single sample: the preloaded sampler never came up in it. Does it "
        "clear LD_PRELOAD, or start a static program?",
        program);
}
