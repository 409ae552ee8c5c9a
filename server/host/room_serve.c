#include "room_serve.h"

#include "../console/log_line.h"
#include "../console/status.h"
#include "../feeds/feed_socket.h"
#include "../net/loop.h"
#include "../net/web.h"
#include "../service/service_host.h"
#include "../service/shutdown.h"
#include "host_options.h"
#include "kept_settings.h"
#include "room_attach.h"
#include "room_history.h"
#include "room_link.h"
#include "room_push.h"
#include "user_folder.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

enum { ERROR_BYTES = 512, TURN = 64 };

struct room_serving {
    struct service_host host;
    struct address address;
    struct shutdown *shutdown;
    struct room_attach *attach;
    struct room_push *push; /* NULL: nothing is */
    struct kept_settings *settings;
    struct room_history *history;
    int state; /* its folder, held; -1: nothing is kept */
    char tables[ROOM_TABLES_BYTES];
};

static void take(struct room_serving *serving, struct room_message *message, int client)
{
    if (message->word == ROOM_FEED)
        feed_socket_take(serving->host.feed, &message->feed);
    else if (message->word == ROOM_CLIENT)
        web_take(serving->host.web, client);
}

/* Some at a time: clients have their turns, too. */
static bool link_ready(void *context)
{
    struct room_serving *serving = context;
    struct room_message message;
    int client = -1;

    for (int i = 0; i < TURN; i++)
        switch (room_link_receive(ROOM_LINK_FD, &message, &client)) {
        case ROOM_RECEIVED_NOTHING:
            return true;
        case ROOM_RECEIVED:
            take(serving, &message, client);
            break;
        case ROOM_RECEIVED_END:
            room_push_finish(serving->push);
            shutdown_begin(serving->shutdown, "the service was told to end", true);
            return false;
        }
    return true;
}

/* The host sends it at once. */
static bool await_begin(struct room_message *begin)
{
    struct pollfd more = { .fd = ROOM_LINK_FD, .events = POLLIN };
    enum room_received received;
    int client;

    while ((received = room_link_receive(ROOM_LINK_FD, begin, &client)) == ROOM_RECEIVED_NOTHING)
        poll(&more, 1, -1);
    return received == ROOM_RECEIVED && begin->word == ROOM_BEGIN;
}

static int run_loop(struct room_serving *serving)
{
    while (!shutdown_done(serving->shutdown) || room_push_runs(serving->push))
        if (loop_step(serving->host.loop) < 0) {
            log_line("the service's loop failed: %s", strerror(errno));
            return STATUS_FAILED;
        }
    return STATUS_OK;
}

static void look_at_processes(void *context)
{
    struct room_serving *serving = context;

    kept_settings_look(serving->settings);
}

/* Two services would keep different things in the same place. */
static void hold_state(struct room_serving *serving, struct room_begin *begin)
{
    serving->state = begin->state[0] ? user_folder_hold(begin->state) : -1;
    if (serving->state >= 0)
        return;
    if (begin->state[0])
        log_line("nothing is kept for user %s: %s: %s", begin->user, begin->state,
                 errno == EWOULDBLOCK ? "another service keeps its things there; --state DIR gives "
                                        "this one another place"
                                      : strerror(errno));
    begin->state[0] = '\0';
}

static int serve_room(struct room_serving *serving, const struct serve_options *options,
                      struct room_begin *begin)
{
    static const struct io_watch_events events = { .ready = link_ready };
    struct service_host_options host = options->host;
    int status;

    serving->address.port = begin->port;
    memcpy(serving->address.token, begin->token, sizeof(serving->address.token));
    snprintf(serving->address.uri, sizeof(serving->address.uri), "http://127.0.0.1:%u/%s/",
             begin->port, begin->token);
    host.socket = NULL;
    host.address = &serving->address;
    memcpy(serving->tables, begin->tables, sizeof(serving->tables));
    host.tables_path = serving->tables;
    host.profile.tables_continue = begin->tables_continue;
    hold_state(serving, begin);
    if (room_attach_new(&serving->attach, &host.service.attacher) < 0 ||
        kept_settings_new(&serving->settings, begin->state, &host.service.keeper) < 0 ||
        room_history_new(&serving->history, begin->state, host.profile.store_bytes,
                         &host.service.earlier) < 0 ||
        service_host_open(&serving->host, &host) < 0)
        return STATUS_FAILED;
    if (room_attach_begin(serving->attach, serving->host.loop, serving->host.profile,
                          serving->tables) < 0 ||
        shutdown_new(&serving->shutdown, serving->host.loop, serving->host.web) < 0 ||
        loop_watch(serving->host.loop, NULL, ROOM_LINK_FD, &events, serving) < 0) {
        log_line("cannot wait for programs: %s", strerror(errno));
        return STATUS_FAILED;
    }
    kept_settings_begin(serving->settings, serving->host.profile);
    serving->host.changed = look_at_processes;
    serving->host.context = serving;
    serving->push = room_push_start(&options->push, begin, &serving->host);
    status = run_loop(serving);
    room_history_save(serving->history, serving->host.profile, serving->host.service);
    return status;
}

/* The host's process group gets Ctrl-C: the host ends first, and that is what ends this. */
static void leave_signals_to_host(void)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
}

int room_command(int argc, char **argv, const struct inherited *inherited)
{
    static struct host_options options; /* texts of its are pointed to */
    struct room_serving serving = { .state = -1 };
    struct room_message begin;
    char error[ERROR_BYTES];
    int type, status;

    (void)inherited;
    prctl(PR_SET_NAME, SERVE_NAME);
    leave_signals_to_host();
    if (getsockopt(ROOM_LINK_FD, SOL_SOCKET, SO_TYPE, &type, &(socklen_t){ sizeof(type) }) < 0 ||
        type != SOCK_SEQPACKET) {
        log_line("%s is started by `isoscope serve --socket`", argv[0]);
        return STATUS_USAGE;
    }
    if (host_options_parse(&options, argc, argv, error, sizeof(error)) < 0) {
        log_line("%s", error);
        return STATUS_USAGE;
    }
    status =
        await_begin(&begin) ? serve_room(&serving, &options.serve, &begin.begin) : STATUS_FAILED;
    room_attach_leave(serving.attach);
    room_push_stop(serving.push);
    service_host_close(&serving.host);
    room_attach_free(serving.attach);
    room_push_free(serving.push);
    kept_settings_free(serving.settings);
    room_history_free(serving.history);
    shutdown_free(serving.shutdown);
    return status;
}
