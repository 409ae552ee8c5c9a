#include "heard_output.h"

#include "loop.h"
#include "output_piece.h"

#include "../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct heard_output {
    int fd; /* the loop's */
    bool over;
    heard_output_wrote *wrote;
    void *context;
};

void heard_output_drain(struct heard_output *heard)
{
    struct output_piece piece;

    while (!heard->over) {
        ssize_t size = recv(heard->fd, &piece, sizeof(piece), MSG_DONTWAIT);

        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0 && errno == EAGAIN)
            return;
        heard->over = size <= (ssize_t)offsetof(struct output_piece, bytes);
        if (!heard->over)
            heard->wrote(heard->context, (enum service_output)piece.output, piece.bytes,
                         (size_t)size - offsetof(struct output_piece, bytes));
    }
}

static bool heard_ready(void *context)
{
    struct heard_output *heard = context;

    heard_output_drain(heard);
    return !heard->over;
}

/* The descriptor is closed now. */
static void heard_ended(void *context)
{
    struct heard_output *heard = context;

    heard->over = true;
}

int heard_output_new(struct heard_output **out, int fd, struct loop *loop,
                     heard_output_wrote *wrote, void *context)
{
    static const struct watch_events events = { .ready = heard_ready, .ended = heard_ended };
    struct heard_output *heard = calloc(1, sizeof(*heard));

    if (!heard) {
        close(fd);
        return -ISOSCOPE_NO_MEMORY;
    }
    *heard = (struct heard_output){ .fd = fd, .wrote = wrote, .context = context };
    if (loop_watch(loop, NULL, fd, &events, heard) < 0) {
        free(heard);
        return -ISOSCOPE_SYSTEM;
    }
    *out = heard;
    return 0;
}

void heard_output_free(struct heard_output *heard)
{
    free(heard);
}
