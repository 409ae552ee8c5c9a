#include "wake.h"

#include "loop.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct wake {
    int fd; /* ours, so that it outlives the loop: threads that wake us end after it */
    void (*woken)(void *context);
    void *context;
};

int wake_new(struct wake **out)
{
    struct wake *wake = calloc(1, sizeof(*wake));

    if (!wake)
        return -ISOSCOPE_NO_MEMORY;
    wake->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake->fd < 0) {
        free(wake);
        return -ISOSCOPE_SYSTEM;
    }
    *out = wake;
    return 0;
}

void wake_free(struct wake *wake)
{
    if (!wake)
        return;
    close(wake->fd);
    free(wake);
}

static bool wake_ready(void *context)
{
    struct wake *wake = context;
    uint64_t times;

    if (read(wake->fd, &times, sizeof(times)) == sizeof(times))
        wake->woken(wake->context);
    return true;
}

int wake_watch(struct wake *wake, struct loop *loop, void (*woken)(void *context), void *context)
{
    static const struct io_watch_events events = { .ready = wake_ready };
    int fd = fcntl(wake->fd, F_DUPFD_CLOEXEC, 0);

    wake->woken = woken;
    wake->context = context;
    return fd < 0 ? -ISOSCOPE_SYSTEM : loop_watch(loop, NULL, fd, &events, wake);
}

void wake_now(void *context)
{
    const struct wake *wake = context;
    uint64_t once = 1;
    ssize_t written = write(wake->fd, &once, sizeof(once));

    (void)written; /* a full counter wakes as well */
}
