#include "serve_files.h"

#include "../console/log_line.h"
#include "../console/option_table.h"
#include "../console/status.h"
#include "../net/loop.h"
#include "ending_signals.h"
#include "serve.h"
#include "serve_words.h"
#include "service_info.h"
#include "shutdown.h"

#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/saved.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { ERROR_BYTES = 512 };

static const char usage[] =
    "Usage: isoscope serve [OPTIONS] FILE...\n"
    "\n"
    "Serves what `isoscope record`, `isoscope run -o` or `isoscope save` wrote, as the live "
    "service\n"
    "served it, until Ctrl-C or SIGTERM. Several files are shown on one time line.\n"
    "\n";

struct serve_files_options {
    struct serve_options serve;
    bool help;
};

static const char *const aligns[] = { "start", "clock", NULL };
_Static_assert(SAVED_ALIGN_START == 0 && SAVED_ALIGN_CLOCK == 1, "the words' order");

#define AT(field) .offset = offsetof(struct serve_files_options, field)

static const struct option_row session_rows[] = {
    { "align", .kind = OPTION_CHOICE, AT(serve.host.align), .words = aligns, .group = "Session",
      .help =
          "start: all files begin at the same moment (default). clock: each at its time of day" },
    { "history", .kind = OPTION_MIB, AT(serve.host.profile.store_bytes), .least = 1, .most = 65536,
      .initial = 64, .value = "MIB", .means = "a number of MiB",
      .help = "memory for samples that are being read, {range} MiB (default: {default}). The rest "
              "stays in the files" },
    { "source-root", .kind = OPTION_TAKEN, AT(serve), .take = serve_take_source_root,
      .value = "DIR",
      .help = "let clients read the source files in DIR and below, besides those in the session" },
};
static const struct option_row other_rows[] = {
    { "quiet", .kind = OPTION_ON, AT(serve.quiet), .help = "do not print the listening line" },
    { "end-with-input", .kind = OPTION_ON, AT(serve.ends_with_input),
      .help = "end when standard input does: with whoever holds the other end of its pipe" },
};
static const struct option_row help_rows[] = {
    { "help", 'h', OPTION_HELP, AT(help), .help = "show this help" },
};
static const struct option_rows session_words = { session_rows, 3 },
                                other_words = { other_rows, 2 }, help_words = { help_rows, 1 };

#define SERVE offsetof(struct serve_files_options, serve)
static const struct option_part parts[] = {
    { &session_words, 0 },    { &listen_words, SERVE }, { &other_words, 0 },
    { &client_words, SERVE }, { &help_words, 0 },
};
static const struct option_table table = { "isoscope serve", parts, sizeof(parts) / sizeof(*parts),
                                           true };

static int parse(struct serve_files_options *out, int argc, char **argv, char *error, size_t size)
{
    int first = option_table_parse(&table, out, argc, argv, error, size);

    if (first < 0 || out->help)
        return first;
    out->serve.host.files = (const char *const *)argv + first;
    out->serve.host.file_count = (size_t)(argc - first);
    if (first < argc)
        return serve_words_agree(&out->serve, error, size);
    snprintf(error, size, "no file given: isoscope serve FILE...");
    return -ISOSCOPE_INVALID;
}

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

static int serve_files(const struct serve_options *options)
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

int serve_files_command(int argc, char **argv, const struct inherited *inherited)
{
    static struct serve_files_options options; /* texts of its are pointed to */
    char error[ERROR_BYTES];

    (void)inherited;
    if (parse(&options, argc, argv, error, sizeof(error)) < 0) {
        log_line("%s", error);
        log_line_plain("Try `isoscope serve --help`.");
        return STATUS_USAGE;
    }
    if (options.help) {
        fputs(usage, stdout);
        option_table_help(&table, stdout);
        return STATUS_OK;
    }
    return serve_files(&options.serve);
}
