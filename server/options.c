#include "options.h"

#include "nearest.h"

#include "../sampler/feed/layout.h"
#include "../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OPTION_PORT = 256,
    OPTION_SOCKET,
    OPTION_NO_TOKEN,
    OPTION_ALLOW_HOST,
    OPTION_ALLOW_ORIGIN,
    OPTION_ALLOW_DDS,
    OPTION_RATE,
    OPTION_PATIENCE,
    OPTION_DEFLATE,
    OPTION_PERIOD,
    OPTION_DEPTH,
    OPTION_MODE,
    OPTION_HISTORY,
    OPTION_TIMER,
    OPTION_PAUSED,
    OPTION_KEEP,
    OPTION_CAPTURE_OUTPUT,
    OPTION_STATS,
    OPTION_INFO,
    OPTION_DEBUGINFOD,
    OPTION_NO_SYMBOLS,
    OPTION_SOURCE_ROOT,
    OPTION_PROTOCOL_VERSION,
    OPTION_QUIET,
};

enum {
    HISTORY_MIB_DEFAULT = 64,
    HISTORY_MIB_MAX = 65536,
    RATE_MAX_DEFAULT = 100000, /* five times what pipelining clients were seen to reach */
    /* A reader of 1 KiB a second shows a sign of life each minute: TCP tells of 64 KiB at once. */
    PATIENCE_SECONDS_DEFAULT = 120,
};

static const struct option long_options[] = {
    { "port", required_argument, NULL, OPTION_PORT },
    { "socket", required_argument, NULL, OPTION_SOCKET },
    { "disable-service-auth-codes", no_argument, NULL, OPTION_NO_TOKEN },
    { "allow-host", required_argument, NULL, OPTION_ALLOW_HOST },
    { "allow-origin", required_argument, NULL, OPTION_ALLOW_ORIGIN },
    { "allow-dds", no_argument, NULL, OPTION_ALLOW_DDS },
    { "client-rate", required_argument, NULL, OPTION_RATE },
    { "client-patience", required_argument, NULL, OPTION_PATIENCE },
    { "deflate", no_argument, NULL, OPTION_DEFLATE },
    { "period", required_argument, NULL, OPTION_PERIOD },
    { "depth", required_argument, NULL, OPTION_DEPTH },
    { "mode", required_argument, NULL, OPTION_MODE },
    { "history", required_argument, NULL, OPTION_HISTORY },
    { "timer", required_argument, NULL, OPTION_TIMER },
    { "paused", no_argument, NULL, OPTION_PAUSED },
    { "keep", no_argument, NULL, OPTION_KEEP },
    { "capture-output", no_argument, NULL, OPTION_CAPTURE_OUTPUT },
    { "stats", no_argument, NULL, OPTION_STATS },
    { "write-service-info", required_argument, NULL, OPTION_INFO },
    { "debuginfod", no_argument, NULL, OPTION_DEBUGINFOD },
    { "no-symbols", no_argument, NULL, OPTION_NO_SYMBOLS },
    { "source-root", required_argument, NULL, OPTION_SOURCE_ROOT },
    { "protocol-version", required_argument, NULL, OPTION_PROTOCOL_VERSION },
    { "quiet", no_argument, NULL, OPTION_QUIET },
    { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 },
};

static const char help[] =
    "Usage: isoscope run [OPTIONS] [--] PROGRAM [ARGS...]\n"
    "\n"
    "Runs PROGRAM with the sampler in it and serves what it does over the Dart VM service\n"
    "protocol. Returns the program's own exit status.\n"
    "\n"
    "  --port N                   listen on 127.0.0.1:N (default: a free port)\n"
    "  --period US                CPU time between two samples of a thread, 50 to 1000000\n"
    "                             microseconds (default: 1000)\n"
    "  --depth N                  frames kept of a stack, 2 to 1024 (default: 128)\n"
    "  --mode cpu|wall            sample threads that run (default), or all of them: what sleeps\n"
    "                             is seen too, at --period of wall time, 1000 at least\n"
    "  --history MIB              memory for the samples of all processes, 1 to 65536 MiB\n"
    "                             (default: 64); the oldest go first. --stats tells how many\n"
    "                             minutes it holds\n"
    "  --timer KIND               what makes the ticks: auto (default: perf events in user mode,\n"
    "                             CPU-time timers for the rest), or cpu (those alone: at most\n"
    "                             250 Hz on most kernels)\n"
    "  --paused                   take no samples until a client enables the profiler\n"
    "  --keep                     serve on after the program has ended, until Ctrl-C or SIGTERM\n"
    "  --capture-output           let clients read what the program writes to its standard output\n"
    "                             and error; it still goes where it would have gone\n"
    "  --stats                    print what the sampling did, and cost, at the program's end\n"
    "  --debuginfod               get debug data that is not on this machine from the servers in\n"
    "                             $DEBUGINFOD_URLS; without it nothing is asked of any network\n"
    "  --no-symbols               name nothing: functions are build ids and offsets, which\n"
    "                             `isoscope symbolize` names on a machine that has the files\n"
    "  --source-root DIR          let clients read the program's source files, from DIR and below\n"
    "  --protocol-version 3.26    say so in getVersion, for old clients that look at the number;\n"
    "                             what is answered stays the same\n"
    "  --write-service-info FILE  write {\"uri\": ...} to FILE, before the program starts\n"
    "  --socket PATH              listen on a unix socket, for its owner only, instead of a port;\n"
    "                             its rights take the place of the token\n"
    "  --disable-service-auth-codes\n"
    "                             no token in the URL: whoever reaches the port comes in\n"
    "  --allow-host NAME          requests may name this host too, as behind a proxy; repeatable\n"
    "  --allow-origin ORIGIN      pages of this origin may connect too; 'x:*' is all that begins\n"
    "                             with 'x:'; repeatable\n"
    "  --allow-dds                a Dart Development Service may take the service over: all other\n"
    "                             clients are then sent to it, until it leaves\n"
    "  --client-rate N            requests one client may send in a second (default: 100000)\n"
    "  --client-patience S        drop a client that reads nothing, or leaves a message "
    "unfinished,\n"
    "                             for S seconds (default: 120)\n"
    "  --deflate                  agree when a client offers permessage-deflate\n"
    "  --quiet                    print neither the listening line nor, with --keep, the\n"
    "                             program's end\n"
    "  --help                     this text\n";

const char *options_help(void)
{
    return help;
}

struct number_range {
    const char *option;
    unsigned long min, max;
    const char *means; /* what the number is */
};

static int number(unsigned long *out, const struct number_range *range, const char *text,
                  char *error, size_t error_size)
{
    char *end = NULL;

    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    /* strtoul takes signs and spaces in front; a number of ours starts with a digit. */
    if (text[0] < '0' || text[0] > '9' || *end || errno || value < range->min ||
        value > range->max) {
        snprintf(error, error_size, "%s: '%s' is not %s from %lu to %lu", range->option, text,
                 range->means, range->min, range->max);
        return -ISOSCOPE_INVALID;
    }
    *out = value;
    return 0;
}

static int take_port(struct run_options *options, const char *text, char *error, size_t error_size)
{
    static const struct number_range range = { "--port", 0, 65535, "a port number" };
    unsigned long value = 0;
    int status = number(&value, &range, text, error, error_size);

    if (status == 0)
        options->port = (uint16_t)value;
    return status;
}

static int take_period(struct run_options *options, const char *text, char *error,
                       size_t error_size)
{
    static const struct number_range range = { "--period", FEED_PERIOD_MIN_US, FEED_PERIOD_MAX_US,
                                               "a number of microseconds" };
    unsigned long value = 0;
    int status = number(&value, &range, text, error, error_size);

    if (status == 0)
        options->period_us = (uint32_t)value;
    return status;
}

/* Needs no escapes in JSON or on a terminal. */
static bool is_plain(const char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
            return false;
    return true;
}

/* Absolute: clients have other working directories. Written into JSON and URIs as it is. */
static int take_socket(struct run_options *options, const char *path, char *error,
                       size_t error_size)
{
    char folder[PATH_MAX] = "";
    int length = 0;

    if (!path[0] || !is_plain(path)) {
        snprintf(error, error_size, "--socket: '%s' is not a path of plain characters", path);
        return -ISOSCOPE_INVALID;
    }
    if (path[0] == '/' || getcwd(folder, sizeof(folder)))
        length = snprintf(options->socket, sizeof(options->socket), "%s%s%s", folder,
                          path[0] == '/' ? "" : "/", path);
    if (length <= 0 || (size_t)length >= sizeof(options->socket)) {
        snprintf(error, error_size,
                 "--socket: '%s' is too long: a socket's path has at most %zu bytes", path,
                 sizeof(options->socket) - 1);
        return -ISOSCOPE_INVALID;
    }
    return 0;
}

static int take_name(struct access_names *names, const char *option, const char *name, char *error,
                     size_t error_size)
{
    if (!name[0] || !strcmp(name, "*")) {
        snprintf(error, error_size, "%s: '%s' would let everybody in", option, name);
        return -ISOSCOPE_INVALID;
    }
    if (names->count == ACCESS_NAMES_MAX) {
        snprintf(error, error_size, "%s: more than %d of them", option, ACCESS_NAMES_MAX);
        return -ISOSCOPE_INVALID;
    }
    names->list[names->count++] = name;
    return 0;
}

static int take_rate(struct run_options *options, const char *text, char *error, size_t error_size)
{
    static const struct number_range range = { "--client-rate", 1, 1000000,
                                               "a number of requests" };
    unsigned long value = 0;
    int status = number(&value, &range, text, error, error_size);

    if (status == 0)
        options->rate_max = (uint32_t)value;
    return status;
}

static int take_patience(struct run_options *options, const char *text, char *error,
                         size_t error_size)
{
    static const struct number_range range = { "--client-patience", 1, 3600,
                                               "a number of seconds" };
    unsigned long value = 0;
    int status = number(&value, &range, text, error, error_size);

    if (status == 0)
        options->patience_seconds = (uint32_t)value;
    return status;
}

static int take_depth(struct run_options *options, const char *text, char *error, size_t error_size)
{
    static const struct number_range range = { "--depth", FEED_DEPTH_MIN, FEED_DEPTH_MAX,
                                               "a number of frames" };
    unsigned long value = 0;
    int status = number(&value, &range, text, error, error_size);

    if (status == 0)
        options->depth_max = (uint32_t)value;
    return status;
}

static int take_mode(struct run_options *options, const char *text, char *error, size_t error_size)
{
#define MODE_TEXT(name, text) text,
    static const char *const modes[] = { FEED_MODES(MODE_TEXT) };
#undef MODE_TEXT

    for (int mode = 0; mode < FEED_MODE_COUNT; mode++) {
        if (strcmp(text, modes[mode]))
            continue;
        options->mode = (enum feed_mode)mode;
        return 0;
    }
    snprintf(error, error_size, "--mode: '%s' is neither cpu nor wall", text);
    return -ISOSCOPE_INVALID;
}

static int take_history(struct run_options *options, const char *text, char *error,
                        size_t error_size)
{
    static const struct number_range range = { "--history", 1, HISTORY_MIB_MAX, "a number of MiB" };
    unsigned long value = 0;
    int status = number(&value, &range, text, error, error_size);

    if (status == 0)
        options->history_mib = (uint32_t)value;
    return status;
}

static int take_timer(struct run_options *options, const char *text, char *error, size_t error_size)
{
#define TIMER_WORD(name, word) word,
    static const char *const words[] = { FEED_TIMER_WISHES(TIMER_WORD) };
#undef TIMER_WORD

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!strcmp(text, words[i])) {
            options->timer = text;
            return 0;
        }
    }
    snprintf(error, error_size, "--timer: '%s' is not auto or cpu", text);
    return -ISOSCOPE_INVALID;
}

static int take_info(struct run_options *options, const char *path, char *error, size_t error_size)
{
    if (!path[0]) {
        snprintf(error, error_size, "--write-service-info: '' is not a file's name");
        return -ISOSCOPE_INVALID;
    }
    options->service_info = path;
    return 0;
}

static int take_source_root(struct run_options *options, const char *path, char *error,
                            size_t error_size)
{
    struct stat info;

    /* Absolute, because debug data has absolute paths, and those are compared. */
    if (!realpath(path, options->source_root) || stat(options->source_root, &info) < 0) {
        snprintf(error, error_size, "--source-root: '%s': %s", path, strerror(errno));
        return -ISOSCOPE_INVALID;
    }
    if (!S_ISDIR(info.st_mode)) {
        snprintf(error, error_size, "--source-root: '%s' is not a folder", path);
        return -ISOSCOPE_INVALID;
    }
    return 0;
}

/* "3.26": digits, a dot, digits. */
static int take_protocol_version(struct run_options *options, const char *text, char *error,
                                 size_t error_size)
{
    unsigned major, minor;
    int end = 0;

    if (text[0] < '0' || text[0] > '9' ||
        sscanf(text, "%2u.%n%2u%n", &major, &end, &minor, &end) < 2 ||
        strspn(text, "0123456789.") != (size_t)end || text[end] || major == 0) {
        snprintf(error, error_size, "--protocol-version: '%s' is not a version as 3.26 is one",
                 text);
        return -ISOSCOPE_INVALID;
    }
    options->protocol_major = (uint8_t)major;
    options->protocol_minor = (uint8_t)minor;
    return 0;
}

/* word: "--perod=5", up to the value. */
static void refuse_long(const char *word, char *error, size_t error_size)
{
    char name[64];
    struct nearest nearest = { .word = name };
    const char *first = NULL, *second = NULL;

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
    for (const struct option *option = long_options; option->name; option++) {
        nearest_try(&nearest, option->name);
        if (!strncmp(option->name, name, strlen(name))) {
            second = first;
            first = option->name;
        }
    }
    if (second)
        snprintf(error, error_size, "--%s can mean --%s or --%s", name, second, first);
    else if (nearest.found)
        snprintf(error, error_size, "--%s is not an option of isoscope run; did you mean --%s?",
                 name, nearest.found);
    else
        snprintf(error, error_size, "--%s is not an option of isoscope run", name);
}

/* word: what getopt has refused. */
static int refuse_option(const char *word, char *error, size_t error_size)
{
    if (optopt >= OPTION_PORT)
        snprintf(error, error_size, "%.*s takes no value", (int)strcspn(word, "="), word);
    else if (optopt)
        snprintf(error, error_size, "-%c is not an option of isoscope run", optopt);
    else
        refuse_long(word, error, error_size);
    return -ISOSCOPE_INVALID;
}

static int take_option(struct run_options *options, int option, char **argv, char *error,
                       size_t error_size)
{
    switch (option) {
    case OPTION_PORT:
        return take_port(options, optarg, error, error_size);
    case OPTION_SOCKET:
        return take_socket(options, optarg, error, error_size);
    case OPTION_NO_TOKEN:
        options->no_token = true;
        return 0;
    case OPTION_ALLOW_HOST:
        return take_name(&options->access.hosts, "--allow-host", optarg, error, error_size);
    case OPTION_ALLOW_ORIGIN:
        return take_name(&options->access.origins, "--allow-origin", optarg, error, error_size);
    case OPTION_RATE:
        return take_rate(options, optarg, error, error_size);
    case OPTION_PATIENCE:
        return take_patience(options, optarg, error, error_size);
    case OPTION_ALLOW_DDS:
        options->allow_dds = true;
        return 0;
    case OPTION_DEFLATE:
        options->deflate = true;
        return 0;
    case OPTION_PERIOD:
        return take_period(options, optarg, error, error_size);
    case OPTION_DEPTH:
        return take_depth(options, optarg, error, error_size);
    case OPTION_MODE:
        return take_mode(options, optarg, error, error_size);
    case OPTION_HISTORY:
        return take_history(options, optarg, error, error_size);
    case OPTION_TIMER:
        return take_timer(options, optarg, error, error_size);
    case OPTION_STATS:
        options->stats = true;
        return 0;
    case OPTION_INFO:
        return take_info(options, optarg, error, error_size);
    case OPTION_PAUSED:
        options->paused = true;
        return 0;
    case OPTION_KEEP:
        options->keep = true;
        return 0;
    case OPTION_CAPTURE_OUTPUT:
        options->capture_output = true;
        return 0;
    case OPTION_DEBUGINFOD:
        options->debuginfod = true;
        return 0;
    case OPTION_NO_SYMBOLS:
        options->no_symbols = true;
        return 0;
    case OPTION_SOURCE_ROOT:
        return take_source_root(options, optarg, error, error_size);
    case OPTION_PROTOCOL_VERSION:
        return take_protocol_version(options, optarg, error, error_size);
    case OPTION_QUIET:
        options->quiet = true;
        return 0;
    case 'h':
        options->help = true;
        return 0;
    case ':':
        snprintf(error, error_size, "%s wants a value", argv[optind - 1]);
        return -ISOSCOPE_INVALID;
    default:
        return refuse_option(argv[optind - 1], error, error_size);
    }
}

int options_parse(struct run_options *out, int argc, char **argv, char *error, size_t error_size)
{
    struct run_options options = { .period_us = FEED_PERIOD_DEFAULT_US,
                                   .depth_max = FEED_DEPTH_DEFAULT,
                                   .history_mib = HISTORY_MIB_DEFAULT,
                                   .timer = "auto",
                                   .rate_max = RATE_MAX_DEFAULT,
                                   .patience_seconds = PATIENCE_SECONDS_DEFAULT };
    int option;

    optind = 0; /* glibc: start over, also in a second call */
    opterr = 0;
    /* "+": what follows the first word that is no option belongs to the program. */
    while ((option = getopt_long(argc, argv, "+:h", long_options, NULL)) != -1) {
        int status = take_option(&options, option, argv, error, error_size);
        if (status < 0)
            return status;
        if (options.help) {
            *out = options;
            return 0;
        }
    }
    if (optind >= argc || !argv[optind][0]) {
        snprintf(error, error_size, "no program to run: isoscope run [OPTIONS] -- PROGRAM ARGS");
        return -ISOSCOPE_INVALID;
    }
    if (options.socket[0] && options.port) {
        snprintf(error, error_size, "--socket takes the place of --port: only one of them");
        return -ISOSCOPE_INVALID;
    }
    options.program = argv + optind;
    *out = options;
    return 0;
}
