#include "stall_slice.h"

#include "../intake/collector.h"
#include "../intake/process_events.h"
#include "../parts.h"

#include <string.h>

#define STALL_WORD(name, word, ...) word,
static const char *const causes[] = { STALL_CAUSES(STALL_WORD) };
#undef STALL_WORD

static struct event_argument text(const char *name, const char *value)
{
    return (struct event_argument){ .name = EVENT_WORD(name),
                                    .type = FEED_ARGUMENT_TEXT,
                                    .text = EVENT_WORD(value) };
}

/* Of what is only known to lie between two looks, the middle. */
static int64_t middle(struct stall_range range)
{
    return range.min + (range.max - range.min) / 2;
}

void stall_slice_put(struct profile *profile, const struct stall *stall)
{
    const struct event_argument arguments[] = {
        text("culprit", stall->culprit.function),
        text("cause", causes[stall->cause]),
        text("loop", stall->name),
    };
    const struct event event = { .kind = TIMELINE_SLICE,
                                 .complete = true,
                                 .start_ns = middle(stall->start_ns),
                                 .duration_ns = (uint64_t)middle(stall->duration_ns),
                                 .name = EVENT_WORD("Stall"),
                                 .stream = EVENT_WORD(SERVICE_STREAM),
                                 .argument_count = sizeof(arguments) / sizeof(*arguments),
                                 .arguments = arguments };

    if (profile->collector && event.start_ns >= 0)
        collector_put_event(profile->collector, stall->process_id, stall->tid, stall->thread_name,
                            &event);
}
