#include "delay.h"

#include "loop.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

struct delay {
    int fd; /* the loop's */
    void (*due)(void *context);
    void *context;
};

static bool delay_ready(void *context)
{
    struct delay *delay = context;
    uint64_t times;

    if (read(delay->fd, &times, sizeof(times)) == sizeof(times))
        delay->due(delay->context);
    return true;
}

int delay_new(struct delay **out, struct loop *loop, void (*due)(void *context), void *context)
{
    static const struct io_watch_events events = { .ready = delay_ready };
    struct delay *delay = calloc(1, sizeof(*delay));

    if (!delay)
        return -ISOSCOPE_NO_MEMORY;
    delay->due = due;
    delay->context = context;
    delay->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (delay->fd < 0 || loop_watch(loop, NULL, delay->fd, &events, delay) < 0) {
        free(delay);
        return -ISOSCOPE_SYSTEM;
    }
    *out = delay;
    return 0;
}

void delay_free(struct delay *delay)
{
    free(delay);
}

void delay_set(struct delay *delay, uint32_t milliseconds)
{
    const struct itimerspec when = {
        .it_value = { .tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L },
    };

    timerfd_settime(delay->fd, 0, &when, NULL);
}
