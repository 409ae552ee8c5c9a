#include "service_host.h"

#include "../console/log_line.h"
#include "../feeds/feed_socket.h"
#include "../net/listener.h"
#include "../net/loop.h"
#include "../net/wake.h"
#include "../net/web.h"

#include "../../protocol/service.h"
#include "../../sampler/feed/layout.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/profile.h"

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

/* errno: of the call that failed, where it was one. */
static int failed(const char *what, int status)
{
    log_line("cannot %s: %s", what,
             status == -ISOSCOPE_SYSTEM && errno ? strerror(errno) : error_texts[-status]);
    return status;
}

static int open_port(int *listener, uint16_t *port)
{
    if (listener_open(listener, port) == 0)
        return 0;
    if (errno == EADDRINUSE && !*port)
        log_line("no port is free on 127.0.0.1; --socket PATH needs none");
    else if (errno == EADDRINUSE)
        log_line(
            "port %u is in use on 127.0.0.1; choose another one, or omit --port for a free one",
            *port);
    else
        log_line("cannot listen on port %u of 127.0.0.1: %s", *port, strerror(errno));
    return -ISOSCOPE_SYSTEM;
}

static int open_socket(int *listener, const char *path)
{
    if (listener_open_unix(listener, path) == 0)
        return 0;
    if (errno == EADDRINUSE)
        log_line("another service listens on %s; choose another --socket", path);
    else if (errno == EEXIST)
        log_line("--socket: %s exists and is not a socket", path);
    else
        log_line("cannot listen on %s: %s", path, strerror(errno));
    return -ISOSCOPE_SYSTEM;
}

static int open_listener(struct service_host *host, int *listener,
                         const struct service_host_options *options)
{
    int status;

    /* Only the owner can connect to the socket: a token would add nothing. */
    if (options->no_token || options->socket)
        host->token[0] = '\0';
    if (options->socket) {
        if ((status = open_socket(listener, options->socket)) < 0)
            return status;
        host->socket = options->socket;
        snprintf(host->uri, sizeof(host->uri), "unix:%s", options->socket);
        return 0;
    }
    host->port = options->port;
    if ((status = open_port(listener, &host->port)) < 0)
        return status;
    snprintf(host->uri, sizeof(host->uri), "http://127.0.0.1:%u/%s%s", host->port, host->token,
             host->token[0] ? "/" : "");
    return 0;
}

static int make_token(struct service_host *host)
{
    uint8_t token[TOKEN_BYTES];

    if (token_random(token) < 0)
        return failed("get random bytes", -ISOSCOPE_SYSTEM);
    token_text(host->token, token);
    return 0;
}

static int open_profile(struct service_host *host, const struct service_host_options *options)
{
    char tables[PATH_MAX];
    struct profile_options profile = options->profile;
    int status;

    snprintf(tables, sizeof(tables), "%s" FEED_TABLES_SUFFIX, options->feed_path);
    profile.tables_path = tables;
    profile.changed = wake_now;
    profile.context = host->wake;
    status = profile_new(&host->profile, &profile);

    if (status == 0 && !profile_has_tables(host->profile))
        log_line("cannot create %s: %s; without this file of unwind tables, sampling costs the "
                 "program more",
                 tables, strerror(profile_tables_problem(host->profile)));
    return status < 0 ? status : profile_start(host->profile);
}

static int open_service(struct service_host *host,
                        const struct service_host_options *service_host_options)
{
    struct service_options options = service_host_options->service;

    options.profile = host->profile;
    options.version = ISOSCOPE_VERSION;
    options.epoch_ms = epoch_ms;
    options.monotonic_us = monotonic_us;
    return service_new(&host->service, &options);
}

static void poll_web(void *context)
{
    web_poll(context);
}

/* Takes over listener, also on failure. */
static int open_web(struct service_host *host,
                    const struct service_host_options *service_host_options, int listener)
{
    struct web_options options = service_host_options->web;
    int status = loop_new(&host->loop);

    options.service = host->service;
    options.token = host->token;
    if (status == 0)
        status = web_new(&host->web, &options);
    if (status < 0) {
        close(listener);
        return status;
    }
    status = web_listen(host->web, host->loop, listener);
    return status < 0 ? status : wake_watch(host->wake, host->loop, poll_web, host->web);
}

static int open_feed(struct service_host *host,
                     const struct service_host_options *service_host_options)
{
    const struct feed_socket_options options = {
        .profile = host->profile,
        .service = host->service,
        .path = service_host_options->feed_path,
    };

    return feed_socket_new(&host->feed, host->loop, &options);
}

int service_host_open(struct service_host *host, const struct service_host_options *options)
{
    int listener, status = make_token(host);

    if (status < 0 || (status = open_listener(host, &listener, options)) < 0)
        return status;

    if ((status = wake_new(&host->wake)) < 0 || (status = open_profile(host, options)) < 0)
        status = failed("start the profile", status);
    else if ((status = open_service(host, options)) < 0)
        status = failed("start the protocol", status);
    if (status < 0) {
        close(listener);
        return status;
    }
    if ((status = open_web(host, options, listener)) < 0)
        return failed("serve", status);
    if ((status = open_feed(host, options)) < 0)
        return failed("open the feed's socket", status);
    return 0;
}

void service_host_close(struct service_host *host)
{
    loop_free(host->loop);
    web_free(host->web);
    service_free(host->service);
    profile_free(host->profile);
    feed_socket_free(host->feed);
    wake_free(host->wake);
    if (host->socket)
        unlink(host->socket);
    *host = (struct service_host){ 0 };
}

void service_host_exited(struct service_host *host, const struct profile_exit *end)
{
    feed_socket_drain(host->feed); /* its hello may still be there */
    profile_exited(host->profile, end);
    profile_sync(host->profile);
    web_poll(host->web);
}
