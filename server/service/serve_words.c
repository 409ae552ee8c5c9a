#include "serve_words.h"

#include "serve.h"

#include "../../sampler/feed/layout.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    struct serve_options *options = all;
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
    options->host.socket = options->socket;
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

int serve_take_file(void *field, const char *path, char *error, size_t error_size)
{
    if (!path[0]) {
        snprintf(error, error_size, "'' is not a file's name");
        return -ISOSCOPE_INVALID;
    }
    *(const char **)field = path;
    return 0;
}

int serve_take_source_root(void *all, const char *path, char *error, size_t error_size)
{
    struct serve_options *options = all;
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
    options->host.profile.source_root = options->source_root;
    return 0;
}

/* "90", "90s", "5m", "2h". */
static int take_seconds(void *field, const char *text, char *error, size_t error_size)
{
    enum { SECONDS_MAX = 7 * 24 * 3600 };
    unsigned long value, factor;
    char *end;

    errno = 0;
    value = strtoul(text, &end, 10);
    factor = !strcmp(end, "h") ? 3600 : !strcmp(end, "m") ? 60 : !*end || !strcmp(end, "s");
    if (text[0] < '0' || text[0] > '9' || errno || !factor || value < 1 ||
        value > SECONDS_MAX / factor) {
        snprintf(error, error_size, "'%s' is not a time from 1s to 168h, such as 60s or 5m", text);
        return -ISOSCOPE_INVALID;
    }
    *(uint32_t *)field = (uint32_t)(value * factor);
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

#define AT(field) .offset = offsetof(struct serve_options, field)

#define FEED_WORD(name, word) word,
static const char *const modes[] = { FEED_MODES(FEED_WORD) NULL };
#undef FEED_WORD

_Static_assert(sizeof(enum feed_mode) == sizeof(unsigned), "an OPTION_CHOICE sets it");

static const struct option_row clock_rows[] = {
    { "period", .kind = OPTION_UINT32, AT(host.profile.settings.period_us), .group = "Sampling",
      .least = FEED_PERIOD_MIN_US, .most = FEED_PERIOD_MAX_US, .initial = FEED_PERIOD_DEFAULT_US,
      .value = "US", .means = "a number of microseconds",
      .help = "CPU time between two samples of a thread, {range} microseconds "
              "(default: {default})" },
    { "depth", .kind = OPTION_UINT32, AT(host.profile.settings.depth_max), .least = FEED_DEPTH_MIN,
      .most = FEED_DEPTH_MAX, .initial = FEED_DEPTH_DEFAULT, .value = "N",
      .means = "a number of frames",
      .help = "frames kept per stack, {range} (default: {default})" },
    { "mode", .kind = OPTION_CHOICE, AT(host.profile.settings.mode), .words = modes,
      .help = "cpu: sample threads while they run (default). wall: sample all threads, sleeping "
              "ones too; --period is wall time then, at least 1000" },
};

static const struct option_row naming_rows[] = {
    { "debuginfod", .kind = OPTION_ON, AT(host.profile.debuginfod), .group = "Names and source",
      .help = "download missing debug data from the servers in $DEBUGINFOD_URLS. Without this "
              "option no network is used" },
    { "no-symbols", .kind = OPTION_ON, AT(host.profile.no_symbols),
      .help = "do not resolve names: functions are build ids and offsets. `isoscope symbolize` "
              "resolves them on a machine that has the files" },
    { "source-root", .kind = OPTION_TAKEN, .take = serve_take_source_root, .value = "DIR",
      .help =
          "let clients read the source files in DIR and below; a recording has the text of those "
          "that were sampled" },
};

static const struct option_row listen_rows[] = {
    { "port", .kind = OPTION_UINT16, AT(host.port), .most = 65535, .group = "Service", .value = "N",
      .means = "a port number", .help = "listen on 127.0.0.1:N (default: a free port)" },
    { "socket", .kind = OPTION_TAKEN, .take = take_socket, .value = "PATH",
      .help = "listen on a unix socket instead of a port. Only its owner can connect, and needs no "
              "token" },
    { "write-service-info", .kind = OPTION_TAKEN, AT(service_info), .take = serve_take_file,
      .value = "FILE",
      .help = "write {\"uri\": ...} to FILE as soon as clients can connect, and before the program "
              "starts, if "
              "there is one" },
};
const struct option_rows listen_words = { listen_rows, sizeof(listen_rows) / sizeof(*listen_rows) };

static const struct option_row client_rows[] = {
    { "disable-service-auth-codes", .kind = OPTION_ON, AT(host.no_token), .group = "Clients",
      .help = "no token in the URL: anyone who can reach the port can connect" },
    { "allow-host", .kind = OPTION_TAKEN, AT(host.web.access.hosts), .take = take_name,
      .value = "NAME",
      .help = "accept requests for this host name too, for example behind a proxy. Repeatable" },
    { "allow-origin", .kind = OPTION_TAKEN, AT(host.web.access.origins), .take = take_name,
      .value = "ORIGIN",
      .help = "accept pages of this origin too. 'x:*' means all origins that begin with 'x:'. "
              "Repeatable" },
    { "allow-dds", .kind = OPTION_ON, AT(host.service.allow_dds),
      .help = "let a Dart Development Service take over. All other clients are redirected to it "
              "until it leaves" },
    /* Five times what pipelining clients were seen to reach. */
    { "client-rate", .kind = OPTION_UINT32, AT(host.service.rate_max), .least = 1, .most = 1000000,
      .initial = 100000, .value = "N", .means = "a number of requests",
      .help = "requests per second that one client may send (default: {default})" },
    /* A reader of 1 KiB a second shows a sign of life each minute: TCP tells of 64 KiB at once. */
    { "client-patience", .kind = OPTION_UINT32, AT(host.web.patience_seconds), .least = 1,
      .most = 3600, .initial = 120, .value = "S", .means = "a number of seconds",
      .help = "disconnect a client that reads nothing, or leaves a message unfinished, for S "
              "seconds (default: {default})" },
    { "deflate", .kind = OPTION_ON, AT(host.web.deflate),
      .help = "accept permessage-deflate when a client offers it" },
    { "protocol-version", .kind = OPTION_TAKEN, AT(host.service), .take = take_protocol_version,
      .value = "3.26",
      .help =
          "version that getVersion reports, for old clients that check it. Replies stay the same" },
};
const struct option_rows client_words = { client_rows, sizeof(client_rows) / sizeof(*client_rows) };

static const struct option_row recording_rows[] = {
    { "output", 'o', OPTION_TAKEN, AT(recording.path), .take = serve_take_file,
      .group = "Recording", .value = "FILE",
      .help =
          "write the profile to FILE as it grows; a session that is there is replaced. Whatever "
          "happens, the file opens, and lacks its last second at most" },
    { "rotate", .kind = OPTION_TAKEN, AT(recording.rotate_seconds), .take = take_seconds,
      .value = "TIME",
      .help = "begin a new file after TIME (60s, 5m, 1h), with its date and time in the name. Each "
              "is complete in itself" },
};
static const struct option_row own_sample_rows[] = {
    { "alloc", .kind = OPTION_MAYBE, AT(host.profile.settings.allocation_bytes),
      .least = FEED_ALLOCATION_BYTES_MIN, .most = FEED_ALLOCATION_BYTES_MAX,
      .initial = FEED_ALLOCATION_BYTES_DEFAULT, .value = "BYTES", .means = "a number of bytes",
      .help =
          "sample allocations too: one in so many bytes, {range} (default: {default}). What was "
          "allocated is --kind alloc of other commands, what is still there --kind live" },
    { "lock", .kind = OPTION_MAYBE, AT(host.profile.settings.lock_us), .least = FEED_LOCK_US_MIN,
      .most = FEED_LOCK_US_MAX, .initial = FEED_LOCK_US_DEFAULT, .value = "MICROSECONDS",
      .means = "a number of microseconds",
      .help =
          "sample what threads wait for: one wait in so many microseconds waited, {range} "
          "(default: {default}). Waits for locks that another thread had are --kind lock of other "
          "commands, those for condition variables, semaphores and futexes --kind wait" },
};
const struct option_rows own_sample_words = { own_sample_rows,
                                              sizeof(own_sample_rows) / sizeof(*own_sample_rows) };
const struct option_rows clock_words = { clock_rows, sizeof(clock_rows) / sizeof(*clock_rows) };
const struct option_rows naming_words = { naming_rows, sizeof(naming_rows) / sizeof(*naming_rows) };
const struct option_rows recording_words = { recording_rows,
                                             sizeof(recording_rows) / sizeof(*recording_rows) };

int serve_words_agree(const struct serve_options *options, char *error, size_t error_size)
{
    const struct recording_options *recording = &options->recording;

    if (options->host.socket && options->host.port)
        snprintf(error, error_size, "--socket and --port exclude each other");
    else if (!recording->path && recording->rotate_seconds)
        snprintf(error, error_size, "--rotate is of a recording: -o FILE");
    else if (recording->keep_files && !recording->rotate_seconds)
        snprintf(error, error_size, "how many files are kept is a matter of --rotate TIME");
    else
        return 0;
    return -ISOSCOPE_INVALID;
}
