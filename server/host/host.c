#include "host.h"

#include "../console/log_line.h"
#include "../console/status.h"
#include "../feeds/feed_hello.h"
#include "../net/listener.h"
#include "../net/loop.h"
#include "../service/ending_signals.h"
#include "../service/service_info.h"
#include "callers.h"
#include "door.h"
#include "host_options.h"
#include "host_socket.h"
#include "kept_feeds.h"
#include "rooms.h"
#include "supervised.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define HOST_NAME "isoscope-host"

struct host {
    const struct host_options *options;
    struct loop *loop;
    struct supervised *supervised;
    struct kept_feeds *kept; /* NULL: nobody would keep them */
    struct rooms *rooms;
    struct callers *callers;
    struct door *door;
    int signals; /* the loop's */
    uint16_t port;
    bool own_socket; /* made here, so it is removed here */
    bool over;
};

static bool signal_came(void *context)
{
    struct host *host = context;
    struct signalfd_siginfo info;

    if (read(host->signals, &info, sizeof(info)) == sizeof(info))
        host->over = true;
    return true;
}

static bool is_for_all(void)
{
    return geteuid() == 0;
}

/* A socket that was passed, of the domain and type. -1: there is none. */
static int take_passed(struct host *host, int domain, int type)
{
    for (size_t i = 0; i < supervised_count(host->supervised); i++) {
        int fd = supervised_peek(host->supervised, i), has_domain = 0, has_type = 0;

        if (fd >= 0 &&
            getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &has_domain, &(socklen_t){ sizeof(int) }) == 0 &&
            getsockopt(fd, SOL_SOCKET, SO_TYPE, &has_type, &(socklen_t){ sizeof(int) }) == 0 &&
            has_domain == domain && has_type == type) {
            fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
            return supervised_take(host->supervised, i);
        }
    }
    return -1;
}

/* Programs find their tables beside the socket that they were told of. */
static int take_passed_socket(struct host *host, int *out)
{
    const char *path = host->options->serve.host.socket;
    struct sockaddr_un address = { .sun_family = AF_UNSPEC };
    socklen_t bytes = sizeof(address) - 1;

    *out = take_passed(host, AF_UNIX, SOCK_SEQPACKET);
    if (*out < 0)
        return 0;
    if (getsockname(*out, (struct sockaddr *)&address, &bytes) == 0 &&
        !strcmp(address.sun_path, path))
        return 0;
    log_line("the socket that was passed is %s, and --socket says %s: they must be one",
             address.sun_path, path);
    close(*out);
    return -ISOSCOPE_SYSTEM;
}

static int open_socket(struct host *host, int *out)
{
    const char *path = host->options->serve.host.socket;

    if (take_passed_socket(host, out) < 0)
        return -ISOSCOPE_SYSTEM;
    if (*out >= 0)
        return 0;
    if (host_socket_open(out, path, is_for_all()) < 0) {
        if (errno == EADDRINUSE)
            log_line("another service listens on %s", path);
        else if (errno == EEXIST)
            log_line("--socket: %s exists and is not a socket", path);
        else
            log_line("cannot listen on %s: %s", path, strerror(errno));
        return -ISOSCOPE_SYSTEM;
    }
    host->own_socket = true;
    return 0;
}

static int open_port(struct host *host, int *out)
{
    *out = take_passed(host, AF_INET, SOCK_STREAM);
    if (*out >= 0) {
        host->port = listener_port(*out);
        return 0;
    }
    host->port = host->options->serve.host.port;
    if (listener_open(out, &host->port) == 0)
        return 0;
    if (errno == EADDRINUSE)
        log_line("port %u is in use on 127.0.0.1; choose another --port, or none for a free one",
                 host->port);
    else
        log_line("cannot listen on port %u of 127.0.0.1: %s", host->port, strerror(errno));
    return -ISOSCOPE_SYSTEM;
}

static void user_entered(void *context, const struct room *room)
{
    struct host *host = context;

    kept_feeds_add_user(host->kept, room);
}

static int open_rooms(struct host *host, char *const *words)
{
    const struct rooms_options options = { .loop = host->loop,
                                           .socket = host->options->serve.host.socket,
                                           .state = host->options->state[0] ? host->options->state
                                                                            : NULL,
                                           .port = host->port,
                                           .words = words,
                                           .keeps_tables = supervised_keeps(host->supervised),
                                           .entered = user_entered,
                                           .context = host };

    if (options.keeps_tables && kept_feeds_new(&host->kept, host->loop, host->supervised) < 0)
        return -ISOSCOPE_NO_MEMORY;
    return rooms_new(&host->rooms, &options);
}

static int open_doors(struct host *host, int socket, int port)
{
    static const struct io_watch_events events = { .ready = signal_came };
    const struct callers_options callers = {
        .rooms = host->rooms,
        .owner = is_for_all() ? FEED_OF_EVERYBODY : geteuid(),
        .port = host->port,
        .admin_group = host->options->admin_group,
        .kept = host->kept,
    };
    int status = callers_new(&host->callers, host->loop, socket, &callers);

    if (status < 0) {
        close(port);
        return status;
    }
    status = door_new(&host->door, host->loop, port, host->rooms);
    return status < 0 ? status : loop_watch(host->loop, NULL, host->signals, &events, host);
}

static int open_all(struct host *host, char *const *words)
{
    int socket = -1, port = -1, status;

    if (open_socket(host, &socket) < 0)
        return -ISOSCOPE_SYSTEM;
    if (open_port(host, &port) < 0 || loop_new(&host->loop) < 0 || open_rooms(host, words) < 0) {
        close(socket);
        if (port >= 0)
            close(port);
        return -ISOSCOPE_SYSTEM;
    }
    status = open_doors(host, socket, port);
    if (status < 0)
        log_line("cannot wait for programs: %s", strerror(errno));
    else if (host->kept)
        kept_feeds_adopt(host->kept, host->rooms);
    return status;
}

static int write_info(struct host *host)
{
    const char *path = host->options->serve.service_info;
    struct room *own = rooms_enter(host->rooms, geteuid(), getegid());
    char uri[128];

    if (!own)
        return -ISOSCOPE_SYSTEM;
    snprintf(uri, sizeof(uri), "http://127.0.0.1:%u/%s/", host->port, own->token);
    if (service_info_write(path, uri) == 0)
        return 0;
    log_line("cannot write %s: %s", path, service_info_problem(errno));
    return -ISOSCOPE_SYSTEM;
}

static int announce(struct host *host)
{
    const char *path = host->options->serve.host.socket;

    if (host->options->serve.service_info && write_info(host) < 0)
        return -ISOSCOPE_SYSTEM;
    if (!host->options->serve.quiet)
        log_line_plain("programs of %s feed %s; `isoscope open --socket %s` opens their page",
                       is_for_all() ? "all users" : "this user", path, path);
    supervised_say(host->supervised, "READY=1");
    return 0;
}

static int run_loop(struct host *host)
{
    while (!host->over)
        if (loop_step(host->loop) < 0) {
            log_line("the service's loop failed: %s", strerror(errno));
            return STATUS_FAILED;
        }
    return STATUS_OK;
}

static void close_all(struct host *host)
{
    if (host->supervised)
        supervised_say(host->supervised, "STOPPING=1");
    if (host->own_socket)
        unlink(host->options->serve.host.socket);
    rooms_leave(host->rooms);
    loop_free(host->loop);
    door_free(host->door);
    callers_free(host->callers);
    rooms_free(host->rooms);
    kept_feeds_free(host->kept);
    supervised_free(host->supervised);
}

int host_serve(const struct host_options *options, char *const *words)
{
    struct host host = { .options = options, .signals = ending_signals() };
    int status = STATUS_FAILED;

    prctl(PR_SET_NAME, HOST_NAME);
    prctl(PR_SET_DUMPABLE, 0); /* no user, whatever he may trace, reads tokens here */
    if (host.signals < 0) {
        log_line("cannot wait for signals: %s", strerror(errno));
        return STATUS_FAILED;
    }
    if (supervised_new(&host.supervised) == 0 && open_all(&host, words) == 0 &&
        announce(&host) == 0)
        status = run_loop(&host);
    close_all(&host);
    return status;
}
