#include "host_options.h"

#include "../console/option_table.h"
#include "../service/serve_words.h"
#include "admins.h"
#include "user_folder.h"

#include "../../sampler/feed/layout.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/saved.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { HOST_PERIOD_US = 10000 };

static const char usage[] =
    "Usage: isoscope serve [OPTIONS] FILE...\n"
    "       isoscope serve --socket PATH [OPTIONS]\n"
    "\n"
    "Serves what `isoscope record`, `isoscope run -o` or `isoscope save` wrote, as the live "
    "service\n"
    "served it, until Ctrl-C or SIGTERM. Several files are shown on one time line. With --push "
    "they\n"
    "are sent to a receiver instead, each with its own times, and the command ends.\n"
    "\n"
    "Without a FILE it is a host service: each program that was started with LD_PRELOAD and\n"
    "ISOSCOPE_SOCKET=PATH feeds it. Each user sees his own programs: `isoscope open` opens their "
    "page,\n"
    "`isoscope ps` lists them, `isoscope ctl` switches their sampling.\n"
    "\n";

static const char *const aligns[] = { "start", "clock", NULL };
_Static_assert(SAVED_ALIGN_START == 0 && SAVED_ALIGN_CLOCK == 1, "the words' order");

#define AT(field) .offset = offsetof(struct host_options, field)

static int take_group(void *field, const char *name, char *error, size_t error_size)
{
    if (!admins_known(name)) {
        snprintf(error, error_size, "there is no group '%s'", name);
        return -ISOSCOPE_INVALID;
    }
    *(const char **)field = name;
    return 0;
}

/* Absolute: rooms of users get it. */
static int take_state(void *field, const char *path, char *error, size_t error_size)
{
    char folder[PATH_MAX] = "";
    int length;

    if (!path[0] || (path[0] != '/' && !getcwd(folder, sizeof(folder)))) {
        snprintf(error, error_size, "'%s' is no folder's name", path);
        return -ISOSCOPE_INVALID;
    }
    length = snprintf(field, HOST_STATE_BYTES, "%s%s%s", folder, path[0] == '/' ? "" : "/", path);
    if (length < HOST_STATE_BYTES)
        return 0;
    snprintf(error, error_size, "'%.80s...' is too long", path);
    return -ISOSCOPE_INVALID;
}

static const struct option_row session_rows[] = {
    { "align", .kind = OPTION_CHOICE, AT(serve.host.align), .words = aligns, .group = "Session",
      .help =
          "start: all files begin at the same moment (default). clock: each at its time of day" },
    { "history", .kind = OPTION_MIB, AT(serve.host.profile.store_bytes), .least = 1, .most = 65536,
      .initial = 64, .value = "MIB", .means = "a number of MiB",
      .help = "memory for samples that are being read, {range} MiB (default: {default}). The rest "
              "stays in the files. Of a host service: for the samples of each user" },
    { "source-root", .kind = OPTION_TAKEN, AT(serve), .take = serve_take_source_root,
      .value = "DIR",
      .help = "let clients read the source files in DIR and below, besides those in the session" },
};
static const struct option_row host_rows[] = {
    { "period", .kind = OPTION_UINT32, AT(serve.host.profile.settings.period_us),
      .group = "Host service", .least = FEED_PERIOD_MIN_US, .most = FEED_PERIOD_MAX_US,
      .initial = HOST_PERIOD_US, .value = "US", .means = "a number of microseconds",
      .help = "CPU time between two samples of a thread, {range} microseconds (default: "
              "{default}); `isoscope ctl` changes it for one process" },
    { "paused", .kind = OPTION_OFF, AT(serve.host.profile.settings.enabled),
      .help = "sample nothing, until `isoscope ctl PID on`" },
    { "admin-group", .kind = OPTION_TAKEN, AT(admin_group), .take = take_group, .value = "GROUP",
      .help = "members of GROUP see the programs of all users (default: root alone does)" },
    { "state", .kind = OPTION_TAKEN, AT(state), .take = take_state, .value = "DIR",
      .help = "where what outlives the service is kept, in a folder of each user (default: "
              "/var/lib/isoscope; of a user's own service isoscope/host in $XDG_STATE_HOME or "
              "~/.local/state)" },
};
static const struct option_row other_rows[] = {
    { "quiet", .kind = OPTION_ON, AT(serve.quiet), .help = "do not print the listening line" },
    { "end-with-input", .kind = OPTION_ON, AT(serve.ends_with_input),
      .help = "end when standard input does: with whoever holds the other end of its pipe" },
};
static const struct option_row help_rows[] = {
    { "help", 'h', OPTION_HELP, AT(help), .help = "show this help" },
};
#define ROWS(rows)                                                                                 \
    {                                                                                              \
        rows, sizeof(rows) / sizeof(*(rows))                                                       \
    }
static const struct option_rows session_words = ROWS(session_rows), host_words = ROWS(host_rows),
                                other_words = ROWS(other_rows), help_words = ROWS(help_rows);

#define SERVE offsetof(struct host_options, serve)
#define PUSH  offsetof(struct host_options, serve.push)
static const struct option_part parts[] = {
    { &session_words, 0 },       { &host_words, 0 },          { &listen_words, SERVE },
    { &other_words, 0 },         { &client_words, SERVE },    { &push_words, PUSH },
    { &push_queue_words, PUSH }, { &push_saved_words, PUSH }, { &help_words, 0 },
};
static const struct option_table table = { "isoscope serve", parts, sizeof(parts) / sizeof(*parts),
                                           true };

static int refuse(char *error, size_t size, const char *what)
{
    snprintf(error, size, "%s", what);
    return -ISOSCOPE_INVALID;
}

/* Of each room its own; here is only seen whether it can be. */
static int agree_push(const struct host_options *options, char *error, size_t size)
{
    struct push_options push = options->serve.push;

    if (push.skip)
        return refuse(error, size, "--push-skip is of session files: isoscope serve FILE...");
    if (push.folder[0])
        return refuse(error, size,
                      "--push-queue: a host service's profiles wait in a folder of each user, "
                      "below --state DIR");
    if (push.wanted && !options->state[0])
        return refuse(error, size,
                      "$HOME names no folder for what is to be pushed: give one with --state DIR");
    if (push.wanted)
        snprintf(push.folder, sizeof(push.folder), "%s", options->state);
    return push_options_agree(&push, error, size);
}

static int agree_host(struct host_options *options, char *error, size_t size)
{
    if (!options->state[0] && !state_folder_default(options->state, sizeof(options->state)))
        options->state[0] = '\0';
    if (!options->serve.host.socket)
        return refuse(error, size,
                      "no file given: isoscope serve FILE...; or, for a host service, where "
                      "programs call: isoscope serve --socket PATH");
    if (strlen(options->serve.host.socket) >= SERVE_SOCKET_BYTES - 1)
        return refuse(error, size, "the socket's path is too long");
    if (options->serve.host.no_token)
        return refuse(error, size,
                      "a host service tells users by their tokens: "
                      "--disable-service-auth-codes is of other services");
    if (options->serve.ends_with_input)
        return refuse(error, size, "--end-with-input is of session files");
    if (options->serve.host.service.allow_dds)
        return refuse(error, size, "--allow-dds is of the service of one program");
    return agree_push(options, error, size);
}

/* What is pushed is not served. */
static int agree_saved_push(const struct serve_options *options, char *error, size_t size)
{
    const char *of = options->host.port         ? "port"
                     : options->host.socket     ? "socket"
                     : options->service_info    ? "write-service-info"
                     : options->ends_with_input ? "end-with-input"
                     : options->host.align      ? "align"
                     : options->push.folder[0]  ? "push-queue"
                                                : NULL;

    if (!options->push.wanted || !of)
        return push_saved_agree(&options->push, error, size);
    snprintf(error, size,
             "--push sends the files, each with its own times, and ends: nothing is served, so "
             "--%s has no meaning with it",
             of);
    return -ISOSCOPE_INVALID;
}

static int agree_files(struct host_options *options, char *error, size_t size)
{
    if (options->admin_group)
        return refuse(error, size, "--admin-group is of a host service, which has no FILE");
    if (options->serve.host.profile.settings.period_us != HOST_PERIOD_US)
        return refuse(error, size, "--period is of a host service: a session keeps its own");
    if (!options->serve.host.profile.settings.enabled)
        return refuse(error, size, "--paused is of a host service, which has no FILE");
    if (options->state[0])
        return refuse(error, size, "--state is of a host service, which has no FILE");
    if (agree_saved_push(&options->serve, error, size) < 0)
        return -ISOSCOPE_INVALID;
    return serve_words_agree(&options->serve, error, size);
}

int host_options_parse(struct host_options *out, int argc, char **argv, char *error, size_t size)
{
    int first = option_table_parse(&table, out, argc, argv, error, size);

    if (first < 0 || out->help)
        return first;
    out->serve.host.profile.settings.wants =
        FEED_WANT_RUNTIMES; /* what interpreters run, by name */
    out->serve.host.files = (const char *const *)argv + first;
    out->serve.host.file_count = (size_t)(argc - first);
    return 0;
}

int host_options_agree(struct host_options *options, char *error, size_t size)
{
    return options->serve.host.file_count ? agree_files(options, error, size)
                                          : agree_host(options, error, size);
}

void host_options_help(FILE *out)
{
    fputs(usage, out);
    option_table_help(&table, out);
}
