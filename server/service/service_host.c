#include "service_host.h"

#include "../console/log_line.h"
#include "../feeds/feed_socket.h"
#include "../net/loop.h"
#include "../net/wake.h"
#include "../net/web.h"

#include "../../protocol/service.h"
#include "../../sampler/feed/layout.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/control.h"
#include "../../sampler/profile/profile.h"
#include "../../sampler/profile/saved.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
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

static int64_t cpu_ns(void)
{
    return clock_us(CLOCK_PROCESS_CPUTIME_ID) * 1000;
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

/* Said as compilers do: the file, where in it, what. */
static int say_damaged(const struct service_host_options *options,
                       const struct saved_problem *problem)
{
    log_line("%s: byte %" PRIu64 ": %s", options->files[problem->file], problem->position,
             problem->reason);
    return -ISOSCOPE_INVALID;
}

static int open_saved(struct service_host *host, const struct service_host_options *options)
{
    const struct saved_options saved = { .store_bytes = options->profile.store_bytes,
                                         .align = (enum saved_align)options->align,
                                         .source_root = options->profile.source_root,
                                         .changed = wake_now,
                                         .context = host->wake };
    struct saved_problem problem = { 0 };
    int status =
        profile_open_saved(&host->profile, &saved, options->files, options->file_count, &problem);

    if (status < 0 && problem.reason[0])
        return say_damaged(options, &problem);
    if (status < 0)
        return failed("open the session", status);
    status = profile_start(host->profile);
    return status < 0 ? failed("start the profile", status) : 0;
}

static int open_live(struct service_host *host, const struct service_host_options *options)
{
    char tables[PATH_MAX];
    struct profile_options profile = options->profile;
    int status;

    if (options->tables_path)
        snprintf(tables, sizeof(tables), "%s", options->tables_path);
    else
        snprintf(tables, sizeof(tables), "%s" FEED_TABLES_SUFFIX, options->feed_path);
    profile.tables_path = tables;
    profile.changed = wake_now;
    profile.context = host->wake;
    status = profile_new(&host->profile, &profile);

    if (status == 0 && !profile_has_tables(host->profile))
        log_line("cannot create %s: %s; without this file of unwind tables, sampling costs the "
                 "program more",
                 tables, strerror(profile_tables_problem(host->profile)));
    /* Programs of other users map it, and write nowhere. What stands there is of files that they run. */
    if (status == 0 && options->user_count && profile_has_tables(host->profile) &&
        chmod(tables, 0644) < 0)
        status = failed("let others read the unwind tables", -ISOSCOPE_SYSTEM);
    if (status == 0) {
        profile_apply_stall_settings(host->profile, &options->stalls.settings);
        status = profile_start(host->profile);
    }
    return status < 0 ? failed("start the profile", status) : 0;
}

static bool is_live(const struct service_host_options *options)
{
    return options->feed_path || options->tables_path;
}

static int open_profile(struct service_host *host, const struct service_host_options *options)
{
    int status = wake_new(&host->wake);

    if (status < 0)
        return failed("start the profile", status);
    return is_live(options) ? open_live(host, options) : open_saved(host, options);
}

static int open_service(struct service_host *host,
                        const struct service_host_options *service_host_options)
{
    struct service_options options = service_host_options->service;
    int status;

    options.profile = host->profile;
    options.version = ISOSCOPE_VERSION;
    options.epoch_ms = epoch_ms;
    options.monotonic_us = monotonic_us;
    options.cpu_ns = cpu_ns;
    status = service_new(&host->service, &options);
    return status < 0 ? failed("start the protocol", status) : 0;
}

static void profile_changed(void *context)
{
    struct service_host *host = context;

    web_poll(host->web);
    if (host->changed)
        host->changed(host->context);
}

/* Takes over listener, also on failure; -1: nothing listens. */
static int open_web(struct service_host *host,
                    const struct service_host_options *service_host_options, int listener)
{
    struct web_options options = service_host_options->web;
    int status = loop_new(&host->loop);

    options.service = host->service;
    options.token = host->address.token;
    if (status == 0)
        status = web_new(&host->web, &options);
    if (status < 0 && listener >= 0)
        close(listener);
    if (status == 0)
        status = web_listen(host->web, host->loop, listener);
    if (status == 0)
        status = wake_watch(host->wake, host->loop, profile_changed, host);
    return status < 0 ? failed("serve", status) : 0;
}

static int open_feed(struct service_host *host,
                     const struct service_host_options *service_host_options)
{
    const struct feed_socket_options options = {
        .profile = host->profile,
        .service = host->service,
        .path = service_host_options->feed_path,
        .users = service_host_options->users,
        .user_count = service_host_options->user_count,
        .outside = service_host_options->outside,
    };

    return feed_socket_new(&host->feed, host->loop, &options);
}

int service_host_open(struct service_host *host, const struct service_host_options *options)
{
    int listener = -1, status;

    /* First: a port that is taken is known before a large file is read. */
    if (options->address)
        host->address = *options->address;
    else if (!options->deaf && (status = address_open(&host->address, &listener, options->port,
                                                      options->socket, options->no_token)) < 0)
        return status;
    if ((status = open_profile(host, options)) < 0 || (status = open_service(host, options)) < 0) {
        if (listener >= 0)
            close(listener);
        return status;
    }
    if ((status = open_web(host, options, listener)) < 0)
        return status;
    if (is_live(options) && (status = open_feed(host, options)) < 0)
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
    address_close(&host->address);
    *host = (struct service_host){ 0 };
}

void service_host_exited(struct service_host *host, const struct profile_exit *end)
{
    feed_socket_drain(host->feed); /* its hello may still be there */
    profile_exited(host->profile, end);
    profile_sync(host->profile);
    web_poll(host->web);
}
