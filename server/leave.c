#include "leave.h"

#include "delay.h"
#include "web.h"

#include "../sampler/include/isoscope/isoscope.h"

#include <stdint.h>
#include <stdlib.h>

enum {
    STEP_MS = 25,
    SILENCE_STEPS = 250 / STEP_MS, /* so long nobody spoke: nobody will */
    CLOSE_STEPS = 1500 / STEP_MS,  /* then clients are closed, silent or not */
    END_STEPS = 2000 / STEP_MS,    /* and then left behind */
};

struct leave {
    struct web *web;
    struct delay *delay;
    unsigned steps, silent_steps;
    uint64_t activity; /* of the web, when we looked last */
    bool closing, done;
};

static void close_clients(struct leave *leave)
{
    leave->closing = true;
    web_leave(leave->web);
}

static void look_for_silence(struct leave *leave)
{
    uint64_t activity = web_activity(leave->web);
    bool silent = activity == leave->activity && web_quiet(leave->web);

    leave->activity = activity;
    leave->silent_steps = silent ? leave->silent_steps + 1 : 0;
    if (leave->silent_steps >= SILENCE_STEPS || leave->steps >= CLOSE_STEPS)
        close_clients(leave);
}

static void step(void *context)
{
    struct leave *leave = context;

    leave->steps++;
    web_poll(leave->web);
    if (!leave->closing)
        look_for_silence(leave);
    leave->done = web_clients(leave->web) == 0 || leave->steps >= END_STEPS;
    if (!leave->done)
        delay_set(leave->delay, STEP_MS);
}

int leave_new(struct leave **out, struct loop *loop, struct web *web)
{
    struct leave *leave = calloc(1, sizeof(*leave));

    if (!leave)
        return -ISOSCOPE_NO_MEMORY;
    leave->web = web;

    int status = delay_new(&leave->delay, loop, step, leave);
    if (status < 0) {
        free(leave);
        return status;
    }
    *out = leave;
    return 0;
}

void leave_free(struct leave *leave)
{
    if (!leave)
        return;
    delay_free(leave->delay);
    free(leave);
}

void leave_begin(struct leave *leave, bool at_once)
{
    leave->steps = at_once ? CLOSE_STEPS : 0;
    leave->silent_steps = 0;
    leave->done = web_clients(leave->web) == 0;
    if (leave->done)
        return;
    if (at_once)
        close_clients(leave);
    delay_set(leave->delay, STEP_MS);
}

bool leave_done(const struct leave *leave)
{
    return leave->done;
}
