#include "serve_files.h"

#include "../console/log_line.h"
#include "../console/status.h"
#include "../net/loop.h"
#include "ending_signals.h"
#include "serve.h"
#include "service_info.h"
#include "shutdown.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct serving {
    struct service_host host;
    struct shutdown *shutdown;
    int signals; /* the loop's */
};

static bool signal_came(void *context)
{
    struct serving *serving = context;
    struct signalfd_siginfo info;

    if (read(serving->signals, &info, sizeof(info)) == sizeof(info))
        shutdown_begin(serving->shutdown, "the service was told to end", true);
    return true;
}

/* What is written there is nothing to us. A pipe has an end however its writer ends; SIGKILL, too. */
static bool input_came(void *context)
{
    struct serving *serving = context;
    char unread[PIPE_BUF];
    ssize_t length = read(STDIN_FILENO, unread, sizeof(unread));

    if (length > 0 || (length < 0 && (errno == EINTR || errno == EAGAIN)))
        return true;
    shutdown_begin(serving->shutdown, "whoever started the service is gone", true);
    return false;
}

static int watch_input(struct serving *serving)
{
    static const struct io_watch_events events = { .ready = input_came };

    if (loop_watch(serving->host.loop, NULL, STDIN_FILENO, &events, serving) == 0)
        return 0;
    if (errno == EPERM || errno == EBADF)
        log_line("--end-with-input: standard input is no pipe, so nothing tells of its end");
    else
        log_line("--end-with-input: %s", strerror(errno));
    return -ISOSCOPE_INVALID;
}

static int watch(struct serving *serving, const struct serve_options *options)
{
    static const struct io_watch_events events = { .ready = signal_came };

    if (loop_watch(serving->host.loop, NULL, serving->signals, &events, serving) == 0 &&
        shutdown_new(&serving->shutdown, serving->host.loop, serving->host.web) == 0)
        return options->ends_with_input ? watch_input(serving) : 0;
    log_line("cannot wait for signals: %s", strerror(errno));
    return -ISOSCOPE_SYSTEM;
}

static int announce(const struct serving *serving, const struct serve_options *options)
{
    const char *uri = serving->host.address.uri;

    if (options->service_info && service_info_write(options->service_info, uri) < 0) {
        log_line("cannot write %s: %s", options->service_info, service_info_problem(errno));
        return -ISOSCOPE_SYSTEM;
    }
    if (!options->quiet)
        log_line_plain("The Dart VM service is listening on %s", uri);
    return 0;
}

static int run_loop(struct serving *serving)
{
    while (!shutdown_done(serving->shutdown))
        if (loop_step(serving->host.loop) < 0) {
            log_line("the service's loop failed: %s", strerror(errno));
            return STATUS_FAILED;
        }
    return STATUS_OK;
}

int serve_files(const struct serve_options *options)
{
    struct serving serving = { .signals = ending_signals() };
    int status = STATUS_FAILED, opened, watched;

    prctl(PR_SET_NAME, SERVE_NAME);
    /* Before the profile's threads are there: they inherit the blocked signals. */
    if (serving.signals < 0) {
        log_line("cannot wait for signals: %s", strerror(errno));
        return STATUS_FAILED;
    }
    opened = service_host_open(&serving.host, &options->host);
    if (opened == -ISOSCOPE_INVALID)
        status = STATUS_USAGE;
    watched = opened == 0 ? watch(&serving, options) : -ISOSCOPE_SYSTEM;
    if (watched == -ISOSCOPE_INVALID)
        status = STATUS_USAGE;
    if (watched == 0 && announce(&serving, options) == 0)
        status = run_loop(&serving);
    service_host_close(&serving.host);
    shutdown_free(serving.shutdown);
    return status;
}
