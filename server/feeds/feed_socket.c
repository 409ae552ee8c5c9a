#include "feed_socket.h"

#include "../console/log_line.h"
#include "../net/acceptor.h"
#include "../net/loop.h"
#include "feed_hello.h"
#include "unsampled.h"

#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/profile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 4096,
    BACKLOG = 4096,         /* a start that finds it full does not wait, and is not sampled */
    DESCRIPTORS_LEFT = 128, /* for clients and for files that are read, at most a quarter of all */
    GATHER_MS = 5,          /* programs that start one after the other are met together */
    HELLO_MS_MAX = 10000,   /* a peer that says nothing holds its place no longer */
};

struct connection {
    struct feed_socket *feed;
    struct io_watch *watch;
    struct connection *next, **link; /* link: what points to this one */
    int socket;                      /* the loop's descriptor */
};

struct feed_socket {
    struct feed_socket_options options;
    struct loop *loop;
    struct acceptor *acceptor;
    struct connection *connections;
    unsigned connection_count, hellos;
    rlim_t descriptors_below; /* a new one beyond it says that few are left */
    struct unsampled *unsampled;
    bool said_full;
};

static size_t count_live(struct profile *profile)
{
    size_t room = profile_processes(profile, NULL, 0), live = 0;
    struct process_info *processes = calloc(room + 1, sizeof(*processes));
    size_t count = processes ? profile_processes(profile, processes, room) : 0;

    for (size_t i = 0; i < count && i < room; i++)
        live += processes[i].live;
    free(processes);
    return live;
}

static rlim_t descriptors_for_programs(void)
{
    struct rlimit files;
    rlim_t left;

    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return RLIM_INFINITY;
    left = files.rlim_cur / 4 < DESCRIPTORS_LEFT ? files.rlim_cur / 4 : DESCRIPTORS_LEFT;
    return files.rlim_cur - left;
}

/* The lowest free number is given first: a high one tells that few are left. Programs keep theirs
 * until they end, and clients would wait as long. */
static bool leaves_room(struct feed_socket *feed, int descriptor)
{
    if (descriptor < 0 || (rlim_t)descriptor < feed->descriptors_below)
        return true;
    if (!feed->said_full)
        log_line("no file descriptor is left after %zu programs; further programs are not sampled "
                 "(ulimit -n raises the limit)",
                 count_live(feed->options.profile));
    feed->said_full = true;
    return false;
}

static void refuse(const struct feed_greeting *greeting)
{
    close(greeting->memfd);
    if (greeting->clock >= 0)
        close(greeting->clock);
    if (greeting->faults >= 0)
        close(greeting->faults);
}

void feed_socket_take(struct feed_socket *feed, const struct feed_greeting *greeting)
{
    const struct profile_peer peer = {
        .pid = greeting->pid,
        .ppid = greeting->ppid,
        .origin = greeting->origin,
        .exe = greeting->exe,
        .clock = greeting->clock,
        .faults = greeting->faults,
    };

    if (!leaves_room(feed, greeting->memfd) || !leaves_room(feed, greeting->clock) ||
        !leaves_room(feed, greeting->faults)) {
        refuse(greeting);
        return;
    }
    if (profile_attach(feed->options.profile, greeting->memfd, &peer, NULL) == 0)
        feed->hellos++;
}

static bool is_welcome(const struct feed_socket *feed, uid_t uid)
{
    bool welcome = uid == geteuid() || uid == 0;

    for (size_t i = 0; !welcome && i < feed->options.user_count; i++)
        welcome = uid == feed->options.users[i];
    return welcome;
}

/* One hello, and nothing more. False: it has not come yet. */
static bool receive(struct feed_socket *feed, int socket)
{
    struct feed_greeting greeting;
    enum feed_received received = feed_receive(&greeting, socket, FEED_OF_EVERYBODY);

    if (received == FEED_RECEIVED_HELLO && is_welcome(feed, greeting.uid))
        feed_socket_take(feed, &greeting);
    else if (received == FEED_RECEIVED_HELLO)
        refuse(&greeting);
    return received != FEED_RECEIVED_NOTHING;
}

static bool connection_ready(void *context)
{
    const struct connection *connection = context;

    return !receive(connection->feed, connection->socket);
}

static void connection_ended(void *context)
{
    struct connection *connection = context;
    struct feed_socket *feed = connection->feed;

    *connection->link = connection->next;
    if (connection->next)
        connection->next->link = connection->link;
    feed->connection_count--;
    free(connection);
}

static void link_in(struct feed_socket *feed, struct connection *connection)
{
    connection->next = feed->connections;
    connection->link = &feed->connections;
    if (connection->next)
        connection->next->link = &connection->next;
    feed->connections = connection;
    feed->connection_count++;
}

/* Waits for its hello. Takes over socket. */
static void await(struct feed_socket *feed, int socket)
{
    static const struct io_watch_events events = { .ready = connection_ready,
                                                   .ended = connection_ended };
    struct connection *connection =
        feed->connection_count < CONNECTIONS_MAX ? calloc(1, sizeof(*connection)) : NULL;

    if (!connection) {
        close(socket);
        return;
    }
    connection->feed = feed;
    connection->socket = socket;
    if (loop_watch(feed->loop, &connection->watch, socket, &events, connection) < 0) {
        free(connection);
        return;
    }
    link_in(feed, connection);
    io_watch_timeout(connection->watch, HELLO_MS_MAX);
}

/* Programs say hello as soon as they have connected: mostly it is there. Takes over socket. */
static void welcome(void *context, int socket)
{
    struct feed_socket *feed = context;

    if (leaves_room(feed, socket) && !receive(feed, socket))
        await(feed, socket);
    else
        close(socket);
}

void feed_socket_drain(struct feed_socket *feed)
{
    if (feed->acceptor)
        acceptor_drain(feed->acceptor);
    for (struct connection *c = feed->connections; c; c = c->next)
        if (receive(feed, c->socket))
            io_watch_end(c->watch);
}

unsigned feed_socket_hellos(const struct feed_socket *feed)
{
    return feed->hellos;
}

void feed_socket_say_unsampled(struct feed_socket *feed)
{
    if (feed->unsampled)
        unsampled_say_more(feed->unsampled);
}

/* for_others: each user may speak to it, and hears nothing but for whose hello is taken. */
static int make_listener(const char *path, bool for_others)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
        goto failed;
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        (for_others && chmod(path, 0666) < 0) || listen(fd, BACKLOG) < 0)
        goto failed;
    return fd;

failed:
    if (fd >= 0)
        close(fd);
    return -1;
}

int feed_socket_new(struct feed_socket **out, struct loop *loop,
                    const struct feed_socket_options *options)
{
    static const struct acceptor_events events = { .accepted = welcome };
    const struct unsampled_options unsampled = { options->profile, options->service,
                                                 options->path };
    struct feed_socket *feed = calloc(1, sizeof(*feed));

    if (!feed)
        return -ISOSCOPE_NO_MEMORY;
    feed->options = *options;
    feed->loop = loop;
    feed->descriptors_below = descriptors_for_programs();
    if (!options->path) {
        *out = feed;
        return 0;
    }
    int listener = make_listener(options->path, options->user_count > 0);
    if (listener < 0 || acceptor_new(&feed->acceptor, loop, listener, &events, feed) < 0 ||
        (!options->outside && unsampled_new(&feed->unsampled, loop, &unsampled) < 0)) {
        acceptor_free(feed->acceptor);
        free(feed);
        return -ISOSCOPE_SYSTEM;
    }
    acceptor_gather(feed->acceptor, GATHER_MS);
    *out = feed;
    return 0;
}

void feed_socket_free(struct feed_socket *feed)
{
    if (!feed)
        return;
    acceptor_free(feed->acceptor);
    unsampled_free(feed->unsampled);
    free(feed);
}
