#include "late_clock.h"

#include <stddef.h>

void late_clock_begin(struct late_clock *clock, const struct thread_clock *first, int64_t now_ns)
{
    *clock =
        (struct late_clock){ .has_clock = first != NULL, .since_ns = now_ns, .looked_ns = now_ns };
    if (first)
        clock->first = clock->last = *first;
}

static void look_without(struct late_clock *clock, int64_t now_ns, bool awake)
{
    *(awake ? &clock->running_ns : &clock->sleeping_ns) += (uint64_t)(now_ns - clock->looked_ns);
}

/* What an awake thread did since the clocks told of it last: no more than a look's time, once they moved. */
static void follow_open(struct late_clock *clock, const struct thread_clock *last, int64_t now_ns)
{
    int64_t step_ns = now_ns - clock->looked_ns;
    int64_t told_ns = (int64_t)(last->run_ns - clock->last.run_ns) +
                      (int64_t)(last->wait_ns - clock->last.wait_ns);

    clock->open_ns += step_ns - told_ns;
    if (clock->open_ns < 0)
        clock->open_ns = 0;
    if (!thread_clock_stands(&clock->last, last) && clock->open_ns > step_ns)
        clock->open_ns = step_ns;
}

static void look_with(struct late_clock *clock, const struct thread_clock *last, int64_t now_ns,
                      int64_t tick_ns, bool awake)
{
    uint64_t running_ns = last->run_ns - clock->first.run_ns;
    uint64_t runnable_ns = last->wait_ns - clock->first.wait_ns;
    int64_t rest_ns = now_ns - clock->since_ns - (int64_t)(running_ns + runnable_ns), open_ns;

    if (awake)
        follow_open(clock, last, now_ns);
    else
        clock->open_ns = 0;
    clock->last = *last;
    if (rest_ns < 0)
        rest_ns = 0;
    open_ns = clock->open_ns < rest_ns ? clock->open_ns : rest_ns;
    *(open_ns <= tick_ns ? &running_ns : &runnable_ns) += (uint64_t)open_ns;
    clock->running_ns = running_ns;
    clock->runnable_ns = runnable_ns;
    clock->sleeping_ns = (uint64_t)(rest_ns - open_ns);
}

uint64_t late_clock_look(struct late_clock *clock, const struct thread_clock *last, int64_t now_ns,
                         int64_t tick_ns, bool awake)
{
    uint64_t slept_ns = clock->sleeping_ns;

    if (now_ns <= clock->looked_ns)
        return 0;
    if (clock->has_clock && last)
        look_with(clock, last, now_ns, tick_ns, awake);
    else
        look_without(clock, now_ns, awake);
    clock->looked_ns = now_ns;
    return clock->sleeping_ns > slept_ns ? clock->sleeping_ns - slept_ns : 0;
}
