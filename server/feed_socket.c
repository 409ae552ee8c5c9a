#include "feed_socket.h"

#include "acceptor.h"
#include "feed_hello.h"
#include "loop.h"
#include "other_users.h"
#include "say.h"

#include "../sampler/include/isoscope/isoscope.h"
#include "../sampler/profile/profile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 4096,
    BACKLOG = 4096,         /* a start that finds it full does not wait, and is not sampled */
    DESCRIPTORS_LEFT = 128, /* for clients and for files that are read, at most a quarter of all */
    HELLO_MS_MAX = 10000,   /* a peer that says nothing holds its place no longer */
};

struct connection {
    struct feed_socket *feed;
    struct watch *watch;
    struct connection *next, **link; /* link: what points to this one */
    int socket;                      /* the loop's descriptor */
    bool attached, goodbye, dead;
    uint64_t process_id; /* when attached, as the rest */
    pid_t pid;
    char exe[FEED_EXE_BYTES];
};

struct feed_socket {
    struct feed_socket_options options;
    struct loop *loop;
    struct acceptor *acceptor;
    struct connection *connections;
    unsigned connection_count, attached_count, hellos;
    struct other_users *other_users;
    bool said_full;
};

/* The lowest free number is given first: a high one tells that few are left. Programs keep theirs
 * until they end, and clients would wait as long. */
static bool leaves_room(struct feed_socket *feed, int descriptor)
{
    struct rlimit files;
    rlim_t left;

    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return true;
    left = files.rlim_cur / 4 < DESCRIPTORS_LEFT ? files.rlim_cur / 4 : DESCRIPTORS_LEFT;
    if (descriptor < 0 || (rlim_t)descriptor < files.rlim_cur - left)
        return true;
    if (!feed->said_full)
        say("%u programs use the file descriptors that there are: further ones run unprofiled "
            "(ulimit -n gives more)",
            feed->attached_count);
    feed->said_full = true;
    return false;
}

static void send_welcome(const struct connection *connection)
{
    const struct feed_welcome welcome = {
        .head = { FEED_MESSAGE_MAGIC, FEED_VERSION, FEED_MESSAGE_WELCOME },
    };

    /* One that has ended since cannot be told, and its samples are as good. */
    (void)!send(connection->socket, &welcome, sizeof(welcome), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void refuse(const struct feed_greeting *greeting)
{
    close(greeting->memfd);
    if (greeting->clock >= 0)
        close(greeting->clock);
}

static bool attach(struct connection *connection, const struct feed_greeting *greeting)
{
    struct feed_socket *feed = connection->feed;
    const struct profile_peer peer = {
        .pid = greeting->pid,
        .ppid = greeting->ppid,
        .origin = greeting->origin,
        .exe = greeting->exe,
        .clock = greeting->clock,
    };

    if (connection->attached || !leaves_room(feed, greeting->memfd) ||
        !leaves_room(feed, greeting->clock)) {
        refuse(greeting);
        return false;
    }
    if (profile_attach(feed->options.profile, greeting->memfd, &peer, &connection->process_id) < 0)
        return false;
    connection->attached = true;
    connection->pid = greeting->pid;
    memcpy(connection->exe, greeting->exe, sizeof(connection->exe));
    feed->attached_count++;
    feed->hellos++;
    watch_timeout(connection->watch, 0);
    send_welcome(connection);
    return true;
}

/* Everything that is there. False when the connection is over. */
static bool receive_all(struct connection *connection)
{
    struct feed_greeting greeting;

    while (!connection->dead) {
        switch (feed_receive(&greeting, connection->socket, geteuid())) {
        case FEED_RECEIVED_NOTHING:
            return true;
        case FEED_RECEIVED_HELLO:
            connection->dead = !attach(connection, &greeting);
            break;
        case FEED_RECEIVED_GOODBYE:
            connection->goodbye = true;
            connection->dead = true;
            break;
        case FEED_RECEIVED_LOOK:
            profile_look(connection->feed->options.profile);
            break;
        case FEED_RECEIVED_END:
        case FEED_RECEIVED_NONSENSE:
            connection->dead = true;
            break;
        }
    }
    return false;
}

static bool connection_ready(void *context)
{
    return receive_all(context);
}

static void connection_ended(void *context)
{
    struct connection *connection = context;
    struct feed_socket *feed = connection->feed;

    if (connection->attached) {
        feed->attached_count--;
        profile_hangup(feed->options.profile, connection->process_id, connection->goodbye);
        if (!connection->goodbye)
            other_users_feed_ended(feed->other_users, connection->pid, connection->exe);
    }
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

/* Takes over socket. */
static void welcome(void *context, int socket)
{
    struct feed_socket *feed = context;
    static const struct watch_events events = { .ready = connection_ready,
                                                .ended = connection_ended };
    struct connection *connection =
        feed->connection_count < CONNECTIONS_MAX && leaves_room(feed, socket)
            ? calloc(1, sizeof(*connection))
            : NULL;

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
    watch_timeout(connection->watch, HELLO_MS_MAX);
}

void feed_socket_drain(struct feed_socket *feed)
{
    acceptor_drain(feed->acceptor);
    for (struct connection *c = feed->connections; c; c = c->next)
        if (!receive_all(c))
            watch_end(c->watch);
}

unsigned feed_socket_hellos(const struct feed_socket *feed)
{
    return feed->hellos;
}

unsigned feed_socket_other_users(const struct feed_socket *feed)
{
    return other_users_count(feed->other_users);
}

static int make_listener(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
        goto failed;
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, BACKLOG) < 0)
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
    struct feed_socket *feed = calloc(1, sizeof(*feed));

    if (!feed)
        return -ISOSCOPE_NO_MEMORY;
    feed->options = *options;
    feed->loop = loop;
    int listener = make_listener(options->path);
    if (listener < 0 || acceptor_new(&feed->acceptor, loop, listener, &events, feed) < 0 ||
        other_users_new(&feed->other_users, loop) < 0) {
        acceptor_free(feed->acceptor);
        free(feed);
        return -ISOSCOPE_SYSTEM;
    }
    *out = feed;
    return 0;
}

void feed_socket_free(struct feed_socket *feed)
{
    if (!feed)
        return;
    acceptor_free(feed->acceptor);
    other_users_free(feed->other_users);
    free(feed);
}
