#include "hub.h"

#include "feed_socket.h"
#include "listener.h"
#include "loop.h"
#include "say.h"
#include "wake.h"
#include "web.h"

#include "../protocol/service.h"
#include "../sampler/feed/layout.h"
#include "../sampler/include/isoscope/isoscope.h"
#include "../sampler/profile/profile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t clock_us(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static int64_t epoch_ms(void)
{
    return clock_us(CLOCK_REALTIME) / 1000;
}

static int64_t monotonic_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

/* isoscope_strerror lives in the sampler's library, which is not in this process. */
#define ERROR_TEXT(name, text) [ISOSCOPE_##name] = text,
static const char *const error_texts[] = { ISOSCOPE_ERRORS(ERROR_TEXT) };

static int failed(const char *what, int status)
{
    say("cannot %s: %s", what, error_texts[-status]);
    return status;
}

static int open_port(int *listener, uint16_t *port)
{
    if (listener_open(listener, port) == 0)
        return 0;
    if (errno == EADDRINUSE)
        say("port %u is in use on 127.0.0.1; choose another with --port, or leave it out for a "
            "free one",
            *port);
    else
        say("cannot listen on port %u of 127.0.0.1: %s", *port, strerror(errno));
    return -ISOSCOPE_SYSTEM;
}

static int open_socket(int *listener, const char *path)
{
    if (listener_open_unix(listener, path) == 0)
        return 0;
    if (errno == EADDRINUSE)
        say("a service listens at %s already; choose another --socket", path);
    else if (errno == EEXIST)
        say("--socket: %s is there already, and is not a socket", path);
    else
        say("cannot listen at %s: %s", path, strerror(errno));
    return -ISOSCOPE_SYSTEM;
}

static int open_listener(struct hub *hub, int *listener, const struct hub_options *options)
{
    int status;

    /* Only the owner can connect to the socket: a token would add nothing. */
    if (options->no_token || options->socket)
        hub->token[0] = '\0';
    if (options->socket) {
        if ((status = open_socket(listener, options->socket)) < 0)
            return status;
        hub->socket = options->socket;
        snprintf(hub->uri, sizeof(hub->uri), "unix:%s", options->socket);
        return 0;
    }
    hub->port = options->port;
    if ((status = open_port(listener, &hub->port)) < 0)
        return status;
    snprintf(hub->uri, sizeof(hub->uri), "http://127.0.0.1:%u/%s%s", hub->port, hub->token,
             hub->token[0] ? "/" : "");
    return 0;
}

static int make_token(struct hub *hub)
{
    uint8_t token[TOKEN_BYTES];

    if (token_random(token) < 0)
        return failed("get random bytes", -ISOSCOPE_SYSTEM);
    token_text(hub->token, token);
    return 0;
}

static int open_profile(struct hub *hub, const struct hub_options *options)
{
    char tables[PATH_MAX];
    const struct profile_options profile = {
        .tables_path = tables,
        .enabled = options->enabled,
        .period_us = options->period_us,
        .depth_max = options->depth_max,
        .mode = options->mode,
        .store_bytes = options->history_bytes,
        .debuginfod = options->debuginfod,
        .no_symbols = options->no_symbols,
        .changed = wake_now,
        .context = hub->wake,
    };
    int status;

    snprintf(tables, sizeof(tables), "%s" FEED_TABLES_SUFFIX, options->feed_path);
    status = profile_new(&hub->profile, &profile);

    if (status == 0 && !profile_has_tables(hub->profile))
        say("%s cannot be made: there is no room for unwind tables, so walking a stack costs the "
            "program more",
            tables);
    return status < 0 ? status : profile_start(hub->profile);
}

static int open_service(struct hub *hub, const struct hub_options *hub_options)
{
    const struct service_options options = {
        .profile = hub->profile,
        .version = ISOSCOPE_VERSION,
        .epoch_ms = epoch_ms,
        .monotonic_us = monotonic_us,
        .source_root = hub_options->source_root,
        .protocol_major = hub_options->protocol_major,
        .protocol_minor = hub_options->protocol_minor,
        .allow_dds = hub_options->allow_dds,
        .rate_max = hub_options->rate_max,
    };

    return service_new(&hub->service, &options);
}

static void poll_web(void *context)
{
    web_poll(context);
}

/* Takes over listener, also on failure. */
static int open_web(struct hub *hub, const struct hub_options *hub_options, int listener)
{
    const struct web_options options = {
        .service = hub->service,
        .token = hub->token,
        .access = hub_options->access,
        .patience_seconds = hub_options->patience_seconds,
        .deflate = hub_options->deflate,
    };
    int status = loop_new(&hub->loop);

    if (status == 0)
        status = web_new(&hub->web, &options);
    if (status < 0) {
        close(listener);
        return status;
    }
    status = web_listen(hub->web, hub->loop, listener);
    return status < 0 ? status : wake_watch(hub->wake, hub->loop, poll_web, hub->web);
}

static int open_feed(struct hub *hub, const struct hub_options *hub_options)
{
    const struct feed_socket_options options = {
        .profile = hub->profile,
        .path = hub_options->feed_path,
    };

    return feed_socket_new(&hub->feed, hub->loop, &options);
}

int hub_open(struct hub *hub, const struct hub_options *options)
{
    int listener, status = make_token(hub);

    if (status < 0 || (status = open_listener(hub, &listener, options)) < 0)
        return status;

    if ((status = wake_new(&hub->wake)) < 0 || (status = open_profile(hub, options)) < 0)
        status = failed("start the profile", status);
    else if ((status = open_service(hub, options)) < 0)
        status = failed("start the protocol", status);
    if (status < 0) {
        close(listener);
        return status;
    }
    if ((status = open_web(hub, options, listener)) < 0)
        return failed("serve", status);
    if ((status = open_feed(hub, options)) < 0)
        return failed("open the feed's socket", status);
    return 0;
}

void hub_close(struct hub *hub)
{
    loop_free(hub->loop);
    web_free(hub->web);
    service_free(hub->service);
    profile_free(hub->profile);
    feed_socket_free(hub->feed);
    wake_free(hub->wake);
    if (hub->socket)
        unlink(hub->socket);
    *hub = (struct hub){ 0 };
}

void hub_exited(struct hub *hub, pid_t pid, int wait_status)
{
    feed_socket_drain(hub->feed); /* its hello may still be there */
    profile_exited(hub->profile, pid, wait_status);
    profile_sync(hub->profile);
    web_poll(hub->web);
}
