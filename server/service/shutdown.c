#include "shutdown.h"

#include "../net/delay.h"
#include "../net/web.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <stdint.h>
#include <stdlib.h>

enum {
    STEP_MS = 25,
    SILENCE_STEPS = 250 / STEP_MS, /* so long nobody spoke: nobody will */
    CLOSE_STEPS = 1500 / STEP_MS,  /* then clients are closed, silent or not */
    END_STEPS = 2000 / STEP_MS,    /* and then left behind */
};

struct shutdown {
    struct web *web;
    struct delay *delay;
    unsigned steps, silent_steps;
    uint64_t activity; /* of the web, when we looked last */
    const char *reason;
    bool closing, done;
};

static void close_clients(struct shutdown *shutdown)
{
    shutdown->closing = true;
    web_leave(shutdown->web, shutdown->reason);
}

static void look_for_silence(struct shutdown *shutdown)
{
    uint64_t activity = web_activity(shutdown->web);
    bool silent = activity == shutdown->activity && web_quiet(shutdown->web);

    shutdown->activity = activity;
    shutdown->silent_steps = silent ? shutdown->silent_steps + 1 : 0;
    if (shutdown->silent_steps >= SILENCE_STEPS || shutdown->steps >= CLOSE_STEPS)
        close_clients(shutdown);
}

static void step(void *context)
{
    struct shutdown *shutdown = context;

    shutdown->steps++;
    web_poll(shutdown->web);
    if (!shutdown->closing)
        look_for_silence(shutdown);
    shutdown->done = web_clients(shutdown->web) == 0 || shutdown->steps >= END_STEPS;
    if (!shutdown->done)
        delay_set(shutdown->delay, STEP_MS);
}

int shutdown_new(struct shutdown **out, struct loop *loop, struct web *web)
{
    struct shutdown *shutdown = calloc(1, sizeof(*shutdown));

    if (!shutdown)
        return -ISOSCOPE_NO_MEMORY;
    shutdown->web = web;

    int status = delay_new(&shutdown->delay, loop, step, shutdown);
    if (status < 0) {
        free(shutdown);
        return status;
    }
    *out = shutdown;
    return 0;
}

void shutdown_free(struct shutdown *shutdown)
{
    if (!shutdown)
        return;
    delay_free(shutdown->delay);
    free(shutdown);
}

void shutdown_begin(struct shutdown *shutdown, const char *reason, bool at_once)
{
    shutdown->reason = reason;
    shutdown->steps = at_once ? CLOSE_STEPS : 0;
    shutdown->silent_steps = 0;
    shutdown->done = web_clients(shutdown->web) == 0;
    if (shutdown->done)
        return;
    if (at_once)
        close_clients(shutdown);
    delay_set(shutdown->delay, STEP_MS);
}

bool shutdown_done(const struct shutdown *shutdown)
{
    return shutdown->done;
}
