#include "options.h"

#include "../console/option_table.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "Usage: isoscope run [OPTIONS] [--] PROGRAM [ARGS...]\n"
    "\n"
    "Runs PROGRAM with the sampler preloaded and serves its profile over the Dart VM service\n"
    "protocol. The exit status is the program's.\n"
    "\n";

/* Needs no escapes in JSON or on a terminal. */
static bool is_plain(const char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
            return false;
    return true;
}

/* Absolute: clients have other working directories. Written into JSON and URIs as it is. */
static int take_socket(void *all, const char *path, char *error, size_t error_size)
{
    struct run_options *options = all;
    char folder[PATH_MAX] = "";
    int length;

    if (!path[0] || !is_plain(path)) {
        snprintf(error, error_size, "'%s' is not a path of plain ASCII characters", path);
        return -ISOSCOPE_INVALID;
    }
    if (path[0] != '/' && !getcwd(folder, sizeof(folder))) {
        snprintf(error, error_size, "'%s': the current folder: %s", path, strerror(errno));
        return -ISOSCOPE_INVALID;
    }
    length = snprintf(options->socket, sizeof(options->socket), "%s%s%s", folder,
                      path[0] == '/' ? "" : "/", path);
    if ((size_t)length >= sizeof(options->socket)) {
        snprintf(error, error_size, "'%s' is too long: a socket's path has at most %zu bytes", path,
                 sizeof(options->socket) - 1);
        return -ISOSCOPE_INVALID;
    }
    options->serve.host.socket = options->socket;
    return 0;
}

static int take_name(void *field, const char *name, char *error, size_t error_size)
{
    struct access_names *names = field;

    if (!name[0] || !strcmp(name, "*")) {
        snprintf(error, error_size, name[0] ? "'%s' would allow everyone" : "'%s' is no name",
                 name);
        return -ISOSCOPE_INVALID;
    }
    if (names->count == ACCESS_NAMES_MAX) {
        snprintf(error, error_size, "more than %d of them", ACCESS_NAMES_MAX);
        return -ISOSCOPE_INVALID;
    }
    names->list[names->count++] = name;
    return 0;
}

static int take_file(void *field, const char *path, char *error, size_t error_size)
{
    if (!path[0]) {
        snprintf(error, error_size, "'' is not a file's name");
        return -ISOSCOPE_INVALID;
    }
    *(const char **)field = path;
    return 0;
}

static int take_source_root(void *all, const char *path, char *error, size_t error_size)
{
    struct run_options *options = all;
    struct stat info;

    /* Absolute, because debug data has absolute paths, and those are compared. */
    if (!realpath(path, options->source_root) || stat(options->source_root, &info) < 0) {
        snprintf(error, error_size, "'%s': %s", path, strerror(errno));
        return -ISOSCOPE_INVALID;
    }
    if (!S_ISDIR(info.st_mode)) {
        snprintf(error, error_size, "'%s' is not a folder", path);
        return -ISOSCOPE_INVALID;
    }
    options->serve.host.profile.source_root = options->source_root;
    return 0;
}

/* "3.26": digits, a dot, digits. */
static int take_protocol_version(void *field, const char *text, char *error, size_t error_size)
{
    struct service_options *service = field;
    unsigned major, minor;
    int end = 0;

    if (text[0] < '0' || text[0] > '9' ||
        sscanf(text, "%2u.%n%2u%n", &major, &end, &minor, &end) < 2 ||
        strspn(text, "0123456789.") != (size_t)end || text[end] || major == 0) {
        snprintf(error, error_size, "'%s' is not a version such as 3.26", text);
        return -ISOSCOPE_INVALID;
    }
    service->protocol_major = (int)major;
    service->protocol_minor = (int)minor;
    return 0;
}

#define FEED_WORD(name, word) word,
static const char *const modes[] = { FEED_MODES(FEED_WORD) NULL };
static const char *const timers[] = { FEED_TIMER_WISHES(FEED_WORD) NULL };
#undef FEED_WORD

_Static_assert(sizeof(enum feed_mode) == sizeof(unsigned), "an OPTION_CHOICE sets it");

#define AT(field)      .offset = offsetof(struct run_options, field)
#define SETTING(field) AT(serve.host.profile.settings.field)

static const struct option_row rows[] = {
    { "period", .kind = OPTION_UINT32, SETTING(period_us), .group = "Sampling",
      .least = FEED_PERIOD_MIN_US, .most = FEED_PERIOD_MAX_US, .initial = FEED_PERIOD_DEFAULT_US,
      .value = "US", .means = "a number of microseconds",
      .help = "CPU time between two samples of a thread, {range} microseconds "
              "(default: {default})" },
    { "depth", .kind = OPTION_UINT32, SETTING(depth_max), .least = FEED_DEPTH_MIN,
      .most = FEED_DEPTH_MAX, .initial = FEED_DEPTH_DEFAULT, .value = "N",
      .means = "a number of frames",
      .help = "frames kept per stack, {range} (default: {default})" },
    { "mode", .kind = OPTION_CHOICE, SETTING(mode), .words = modes,
      .help = "cpu: sample threads while they run (default). wall: sample all threads, sleeping "
              "ones too; --period is wall time then, at least 1000" },
    { "timer", .kind = OPTION_WORD, AT(timer), .words = timers,
      .help = "auto: perf events in user mode, CPU-time timers for the rest (default). cpu: "
              "CPU-time timers only, at most 250 Hz on most kernels" },
    { "paused", .kind = OPTION_OFF, SETTING(enabled),
      .help = "start with the profiler off; a client turns it on" },
    { "history", .kind = OPTION_MIB, AT(serve.host.profile.store_bytes), .least = 1, .most = 65536,
      .initial = 64, .value = "MIB", .means = "a number of MiB",
      .help = "memory for the samples of all processes, {range} MiB (default: {default}). The "
              "oldest samples are dropped first. --stats prints how many minutes fit" },
    { "stats", .kind = OPTION_ON, AT(serve.stats),
      .help = "print counters and cost of the sampling when the program has ended" },

    { "debuginfod", .kind = OPTION_ON, AT(serve.host.profile.debuginfod),
      .group = "Names and source",
      .help = "download missing debug data from the servers in $DEBUGINFOD_URLS. Without this "
              "option no network is used" },
    { "no-symbols", .kind = OPTION_ON, AT(serve.host.profile.no_symbols),
      .help = "do not resolve names: functions are build ids and offsets. `isoscope symbolize` "
              "resolves them on a machine that has the files" },
    { "source-root", .kind = OPTION_TAKEN, .take = take_source_root, .value = "DIR",
      .help = "let clients read the source files in DIR and below" },

    { "port", .kind = OPTION_UINT16, AT(serve.host.port), .most = 65535, .group = "Service",
      .value = "N", .means = "a port number",
      .help = "listen on 127.0.0.1:N (default: a free port)" },
    { "socket", .kind = OPTION_TAKEN, .take = take_socket, .value = "PATH",
      .help = "listen on a unix socket instead of a port. Only its owner can connect, and needs no "
              "token" },
    { "write-service-info", .kind = OPTION_TAKEN, AT(serve.service_info), .take = take_file,
      .value = "FILE", .help = "write {\"uri\": ...} to FILE before the program starts" },
    { "keep", .kind = OPTION_ON, AT(serve.keep),
      .help = "keep serving after the program has ended, until Ctrl-C or SIGTERM" },
    { "quiet", .kind = OPTION_ON, AT(serve.quiet),
      .help = "print neither the listening line nor, with --keep, the program's end" },

    { "capture-output", .kind = OPTION_ON, AT(capture_output), .group = "Clients",
      .help = "let clients read the program's standard output and error. Both are still written as "
              "before" },
    { "disable-service-auth-codes", .kind = OPTION_ON, AT(serve.host.no_token),
      .help = "no token in the URL: anyone who can reach the port can connect" },
    { "allow-host", .kind = OPTION_TAKEN, AT(serve.host.web.access.hosts), .take = take_name,
      .value = "NAME",
      .help = "accept requests for this host name too, for example behind a proxy. Repeatable" },
    { "allow-origin", .kind = OPTION_TAKEN, AT(serve.host.web.access.origins), .take = take_name,
      .value = "ORIGIN",
      .help = "accept pages of this origin too. 'x:*' means all origins that begin with 'x:'. "
              "Repeatable" },
    { "allow-dds", .kind = OPTION_ON, AT(serve.host.service.allow_dds),
      .help = "let a Dart Development Service take over. All other clients are redirected to it "
              "until it leaves" },
    /* Five times what pipelining clients were seen to reach. */
    { "client-rate", .kind = OPTION_UINT32, AT(serve.host.service.rate_max), .least = 1,
      .most = 1000000, .initial = 100000, .value = "N", .means = "a number of requests",
      .help = "requests per second that one client may send (default: {default})" },
    /* A reader of 1 KiB a second shows a sign of life each minute: TCP tells of 64 KiB at once. */
    { "client-patience", .kind = OPTION_UINT32, AT(serve.host.web.patience_seconds), .least = 1,
      .most = 3600, .initial = 120, .value = "S", .means = "a number of seconds",
      .help = "disconnect a client that reads nothing, or leaves a message unfinished, for S "
              "seconds (default: {default})" },
    { "deflate", .kind = OPTION_ON, AT(serve.host.web.deflate),
      .help = "accept permessage-deflate when a client offers it" },
    { "protocol-version", .kind = OPTION_TAKEN, AT(serve.host.service),
      .take = take_protocol_version, .value = "3.26",
      .help =
          "version that getVersion reports, for old clients that check it. Replies stay the same" },
    { "help", 'h', OPTION_HELP, AT(help), .help = "show this help" },
};

static const struct option_table table = { "isoscope run", rows, sizeof(rows) / sizeof(*rows) };

void options_help(FILE *out)
{
    fputs(usage, out);
    option_table_help(&table, out);
}

int options_parse(struct run_options *out, int argc, char **argv, char *error, size_t error_size)
{
    *out = (struct run_options){ 0 };
    int first = option_table_parse(&table, out, argc, argv, error, error_size);

    if (first < 0)
        return first;
    if (out->help)
        return 0;
    if (first >= argc || !argv[first][0]) {
        snprintf(error, error_size, "no program given: isoscope run [OPTIONS] -- PROGRAM ARGS");
        return -ISOSCOPE_INVALID;
    }
    if (out->serve.host.socket && out->serve.host.port) {
        snprintf(error, error_size, "--socket and --port exclude each other");
        return -ISOSCOPE_INVALID;
    }
    out->program = argv + first;
    return 0;
}
