#include "heard_output.h"

#include "../net/loop.h"
#include "output_piece.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PIECES_AT_ONCE = 4 };

struct heard_output {
    int fd; /* the loop's */
    bool over;
    heard_output_wrote *wrote;
    void *context;
};

/* False: there is none. */
static bool take_piece(struct heard_output *heard)
{
    struct output_piece piece;
    ssize_t size = recv(heard->fd, &piece, sizeof(piece), MSG_DONTWAIT);

    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return errno == EINTR;
    heard->over = size <= (ssize_t)offsetof(struct output_piece, bytes);
    if (!heard->over)
        heard->wrote(heard->context, (enum service_output)piece.output, piece.bytes,
                     (size_t)size - offsetof(struct output_piece, bytes));
    return !heard->over;
}

void heard_output_drain(struct heard_output *heard)
{
    while (!heard->over && take_piece(heard))
        continue;
}

/* Then it is the clients' turn: a program may write without end, and faster than it is heard. */
static bool heard_ready(void *context)
{
    struct heard_output *heard = context;

    for (int i = 0; i < PIECES_AT_ONCE && take_piece(heard); i++)
        continue;
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
    static const struct io_watch_events events = { .ready = heard_ready, .ended = heard_ended };
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
