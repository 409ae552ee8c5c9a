#include "connection.h"

#include "loop.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    READ_BYTES = 64 * 1024,
    LAST_WORDS_MS = 2000,               /* so long it may go on talking when all has been said */
    PASSED_OVER_MAX = 64 * 1024 * 1024, /* and so much */
};

struct connection {
    struct io_watch *watch;
    const struct connection_events *events;
    void *context;
    int fd; /* the loop's */
    uint32_t patience_ms;
    uint8_t *waiting; /* for the socket: [sent, length) */
    size_t sent, length;
    uint64_t moved;      /* grows with what goes out, and with what it owed */
    uint64_t moved_seen; /* when patience began */
    int unsent_seen;
    size_t passed_over;
    int64_t deadline_ms; /* 0: none */
    int64_t patience_end_ms;
    bool half_closed, finishing, shut, ending;
};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* What the socket has not got rid of: a slow reader's is not writable for minutes, but empties. */
static int unsent(const struct connection *connection)
{
    int bytes = 0;

    return ioctl(connection->fd, SIOCOUTQ, &bytes) < 0 ? 0 : bytes;
}

bool connection_has_room(const struct connection *connection)
{
    return connection->sent == connection->length;
}

void connection_end(struct connection *connection)
{
    connection->ending = true;
    io_watch_end(connection->watch);
}

static void set_timer(struct connection *connection)
{
    int64_t first = connection->patience_end_ms, left;

    if (connection->deadline_ms && (!first || connection->deadline_ms < first))
        first = connection->deadline_ms;
    left = first ? first - now_ms() : 0;
    io_watch_timeout(connection->watch, !first ? 0 : left < 1 ? 1 : (uint32_t)left);
}

static bool owes(const struct connection *connection)
{
    return !connection_has_room(connection) || connection->shut ||
           (!connection->finishing && connection->events->owes(connection->context));
}

static void begin_patience(struct connection *connection, uint32_t milliseconds)
{
    connection->moved_seen = connection->moved;
    connection->unsent_seen = unsent(connection);
    connection->patience_end_ms = now_ms() + milliseconds;
    set_timer(connection);
}

/* Begins with the first thing that it owes, and looks again only when it is over. */
static void mind_patience(struct connection *connection)
{
    if (connection->patience_end_ms || connection->ending || !owes(connection))
        return;
    begin_patience(connection, connection->shut && !unsent(connection) ? LAST_WORDS_MS
                                                                       : connection->patience_ms);
}

static bool stands_still(const struct connection *connection)
{
    return connection->moved == connection->moved_seen &&
           unsent(connection) >= connection->unsent_seen;
}

static bool connection_due(void *context)
{
    struct connection *connection = context;
    int64_t now = now_ms();

    if (connection->deadline_ms && now >= connection->deadline_ms)
        return false;
    if (connection->patience_end_ms && now >= connection->patience_end_ms) {
        connection->patience_end_ms = 0;
        if (owes(connection) && stands_still(connection))
            return false;
        mind_patience(connection);
    }
    set_timer(connection);
    return true;
}

void connection_moved(struct connection *connection)
{
    connection->moved++;
}

void connection_deadline(struct connection *connection, uint32_t milliseconds)
{
    connection->deadline_ms = milliseconds ? now_ms() + milliseconds : 0;
    set_timer(connection);
}

/* The other side has our last byte; now it is to close, or to take a moment for it. */
static void shut(struct connection *connection)
{
    connection->shut = true;
    shutdown(connection->fd, SHUT_WR);
    if (connection->half_closed)
        return connection_end(connection);
    connection->patience_end_ms = 0;
    mind_patience(connection);
}

static bool is_lasting(int reason)
{
    return reason != EAGAIN && reason != EWOULDBLOCK && reason != EINTR && reason != ENOBUFS;
}

/* Returns what the socket took; negative when it is broken. */
static ssize_t give(struct connection *connection, const void *bytes, size_t size)
{
    ssize_t taken = size ? send(connection->fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;

    if (taken < 0 && is_lasting(errno)) {
        connection_end(connection);
        return -1;
    }
    connection->moved += taken > 0;
    return taken < 0 ? 0 : taken;
}

static void flush(struct connection *connection)
{
    ssize_t taken = give(connection, connection->waiting + connection->sent,
                         connection->length - connection->sent);

    if (taken < 0)
        return;
    connection->sent += (size_t)taken;
    if (!connection_has_room(connection))
        return io_watch_await_room(connection->watch);
    free(connection->waiting);
    connection->waiting = NULL;
    connection->sent = connection->length = 0;
}

static int keep(struct connection *connection, const uint8_t *bytes, size_t size)
{
    size_t waiting = connection->length - connection->sent;
    uint8_t *kept = malloc(waiting + size);

    if (!kept) {
        connection_end(connection);
        return -ISOSCOPE_NO_MEMORY;
    }
    if (waiting)
        memcpy(kept, connection->waiting + connection->sent, waiting);
    memcpy(kept + waiting, bytes, size);
    free(connection->waiting);
    connection->waiting = kept;
    connection->sent = 0;
    connection->length = waiting + size;
    io_watch_await_room(connection->watch);
    return 0;
}

int connection_send(struct connection *connection, const void *bytes, size_t size)
{
    ssize_t taken = 0;
    int status = 0;

    if (connection->ending || connection->shut)
        return -ISOSCOPE_SYSTEM;
    if (connection_has_room(connection))
        taken = give(connection, bytes, size);
    if (taken < 0)
        return -ISOSCOPE_SYSTEM;
    if ((size_t)taken < size)
        status = keep(connection, (const uint8_t *)bytes + taken, size - (size_t)taken);
    mind_patience(connection);
    return status;
}

void connection_turn(struct connection *connection)
{
    if (connection_has_room(connection))
        io_watch_turn(connection->watch);
    mind_patience(connection);
}

void connection_finish(struct connection *connection)
{
    connection->finishing = true;
    if (!connection->ending && !connection->shut && connection_has_room(connection))
        shut(connection);
}

static bool connection_turned(void *context)
{
    struct connection *connection = context;

    flush(connection);
    if (connection->ending || !connection_has_room(connection))
        return true;
    if (connection->finishing && !connection->shut)
        shut(connection);
    else if (!connection->finishing)
        connection->events->turn(connection->context);
    mind_patience(connection);
    return true;
}

static bool pass_over(struct connection *connection, size_t size)
{
    connection->passed_over += size;
    return connection->passed_over <= PASSED_OVER_MAX;
}

static bool read_end(struct connection *connection)
{
    /* A second time: both directions are over. */
    if (connection->half_closed || connection->shut)
        return false;
    connection->half_closed = true;
    io_watch_reads(connection->watch, false);
    return connection->finishing || connection->events->half_closed(connection->context);
}

static bool connection_ready(void *context)
{
    static uint8_t bytes[READ_BYTES]; /* the service thread's only */
    struct connection *connection = context;
    ssize_t size = recv(connection->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

    if (size < 0)
        return !is_lasting(errno);
    if (size == 0)
        return read_end(connection);
    if (connection->finishing)
        return pass_over(connection, (size_t)size);
    if (!connection->events->received(connection->context, bytes, (size_t)size))
        return false;
    mind_patience(connection);
    return true;
}

static void connection_ended(void *context)
{
    struct connection *connection = context;

    connection->events->ended(connection->context);
    free(connection->waiting);
    free(connection);
}

int connection_new(struct connection **out, struct loop *loop, int fd, uint32_t patience_ms,
                   const struct connection_events *events, void *context)
{
    static const struct io_watch_events watched = { .ready = connection_ready,
                                                    .turn = connection_turned,
                                                    .due = connection_due,
                                                    .ended = connection_ended };
    struct connection *connection = calloc(1, sizeof(*connection));

    if (!connection) {
        close(fd);
        return -ISOSCOPE_NO_MEMORY;
    }
    *connection = (struct connection){
        .fd = fd, .events = events, .context = context, .patience_ms = patience_ms
    };
    int status = loop_watch(loop, &connection->watch, fd, &watched, connection);
    if (status < 0) {
        free(connection);
        return status;
    }
    *out = connection;
    return 0;
}
