#include "push_options.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SECONDS_DEFAULT = 10, QUEUE_MIB_DEFAULT = 64, PATIENCE_SECONDS_DEFAULT = 60 };

static int take_url(void *all, const char *url, char *error, size_t error_size)
{
    struct push_options *options = all;

    options->wanted = true;
    return push_target_read(&options->target, url, error, error_size);
}

static int take_label(void *labels, const char *text, char *error, size_t error_size)
{
    return push_label_read(labels, text, error, error_size);
}

/* Whether it can be read says push_headers_agree: who parses for others need not be able to. */
int push_take_headers(void *field, const char *path, char *error, size_t error_size)
{
    (void)error;
    (void)error_size;
    *(const char **)field = path;
    return 0;
}

static int take_packing(void *field, const char *name, char *error, size_t error_size)
{
    if (strcmp(name, "zstd") != 0 && strcmp(name, "gzip") != 0) {
        snprintf(error, error_size, "'%.40s' is neither gzip nor zstd", name);
        return -ISOSCOPE_INVALID;
    }
    *(bool *)field = name[0] == 'z';
    return 0;
}

/* Absolute: it is said to the user, who may be elsewhere by then. */
static int take_folder(void *field, const char *path, char *error, size_t error_size)
{
    char folder[PATH_MAX] = "";
    int length;

    if (!path[0] || (path[0] != '/' && !getcwd(folder, sizeof(folder)))) {
        snprintf(error, error_size, "'%s' is no folder's name", path);
        return -ISOSCOPE_INVALID;
    }
    length = snprintf(field, PATH_MAX, "%s%s%s", folder, path[0] == '/' ? "" : "/", path);
    if (length < PATH_MAX - 64) /* room for what stands in it */
        return 0;
    snprintf(error, error_size, "'%.80s...' is too long", path);
    return -ISOSCOPE_INVALID;
}

#define AT(field) .offset = offsetof(struct push_options, field)

static const struct option_row rows[] = {
    { "push", .kind = OPTION_TAKEN, .take = take_url, .group = "Push", .value = "URL",
      .help = "send profiles to a Pyroscope: http://HOST:4040, or an address that ends in /ingest "
              "or /push.v1.PusherService/Push; or, experimental, to an OTLP receiver: "
              "otlp+http://HOST:4318. Every 10 seconds CPU time; with --alloc, --lock and --mode "
              "wall these too" },
    { "push-label", .kind = OPTION_TAKEN, AT(labels), .take = take_label, .value = "NAME=VALUE",
      .help = "a label of what is pushed. service_name is the program's name where it is not "
              "given. Repeatable" },
    { "push-headers", .kind = OPTION_TAKEN, AT(headers), .take = push_take_headers, .value = "FILE",
      .help = "HTTP headers to send along, one in a line: a tenant, a password" },
    { "push-window", .kind = OPTION_UINT32, AT(seconds), .least = 1, .most = 600,
      .initial = SECONDS_DEFAULT, .value = "S", .means = "a number of seconds",
      .help = "seconds in each profile, {range} (default: {default})" },
    { "push-compression", .kind = OPTION_TAKEN, AT(zstd), .take = take_packing,
      .value = "gzip|zstd",
      .help =
          "how what an OTLP receiver gets is packed (default: gzip). One that does not read zstd "
          "gets gzip" },
};
static const struct option_row queue_rows[] = {
    { "push-queue", .kind = OPTION_TAKEN, AT(folder), .take = take_folder, .value = "DIR",
      .help = "where profiles wait while the receiver is down, also for a later run (default: "
              "isoscope/push in $XDG_STATE_HOME or ~/.local/state)" },
    { "push-queue-size", .kind = OPTION_MIB, AT(queue_bytes), .least = 1, .most = 65536,
      .initial = QUEUE_MIB_DEFAULT, .value = "MIB", .means = "a number of MiB",
      .help = "room there, {range} MiB (default: {default}). The oldest profiles are dropped first"
              ", and those older than an hour" },
};
static const struct option_row saved_rows[] = {
    { "push-patience", .kind = OPTION_UINT32, AT(patience_s), .most = 86400,
      .initial = PATIENCE_SECONDS_DEFAULT, .value = "S", .means = "a number of seconds",
      .help = "how long to try again while the receiver is in trouble, {range} seconds (default: "
              "{default}); then the command ends, and says how to go on" },
    { "push-skip", .kind = OPTION_UINT32, AT(skip), .most = UINT32_MAX, .value = "N",
      .means = "a number of profiles",
      .help = "leave the first N profiles out: an earlier push, with the same files and options, "
              "has told of so many" },
};
#define ROWS(list)                                                                                 \
    {                                                                                              \
        list, sizeof(list) / sizeof(*(list))                                                       \
    }
const struct option_rows push_words = ROWS(rows), push_queue_words = ROWS(queue_rows),
                         push_saved_words = ROWS(saved_rows);

/* Of a target of its own: what waits for one receiver must not go to another. */
static uint64_t number_of(const char *url)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *url; url++)
        hash = (hash ^ (uint8_t)*url) * UINT64_C(0x100000001b3);
    return hash;
}

static bool find_default(char folder[PATH_MAX])
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

    if (state && state[0] == '/')
        return snprintf(folder, PATH_MAX, "%s/isoscope/push", state) < PATH_MAX - 64;
    return home && home[0] == '/' &&
           snprintf(folder, PATH_MAX, "%s/.local/state/isoscope/push", home) < PATH_MAX - 64;
}

static int agree_without_target(const struct push_options *options, char *error, size_t error_size)
{
    const char *of = options->labels.count ? "label"
                     : options->headers    ? "headers"
                     : options->zstd       ? "compression"
                     : options->folder[0]  ? "queue"
                     : options->skip       ? "skip"
                                           : NULL;

    if (!of)
        return 0;
    snprintf(error, error_size, "--push-%s is of --push URL", of);
    return -ISOSCOPE_INVALID;
}

int push_headers_agree(const char *option, const char *path, char *error, size_t error_size)
{
    if (!path || access(path, R_OK) == 0)
        return 0;
    snprintf(error, error_size, "--%s: '%s': %s", option, path, strerror(errno));
    return -ISOSCOPE_INVALID;
}

int push_saved_agree(const struct push_options *options, char *error, size_t error_size)
{
    if (!options->wanted)
        return agree_without_target(options, error, error_size);
    if (push_headers_agree("push-headers", options->headers, error, error_size) < 0)
        return -ISOSCOPE_INVALID;
    if (options->target.form != PUSH_OTLP && options->zstd) {
        snprintf(error, error_size,
                 "--push-compression zstd is of an OTLP receiver: a Pyroscope gets "
                 "profiles that have gzip in them");
        return -ISOSCOPE_INVALID;
    }
    if (options->target.form != PUSH_OTLP && push_dotted_label(&options->labels)) {
        snprintf(error, error_size, "--push-label: only an OTLP receiver takes a name with '.': %s",
                 push_dotted_label(&options->labels));
        return -ISOSCOPE_INVALID;
    }
    return 0;
}

int push_options_agree(struct push_options *options, char *error, size_t error_size)
{
    size_t length;

    if (push_saved_agree(options, error, error_size) < 0)
        return -ISOSCOPE_INVALID;
    if (!options->wanted)
        return 0;
    if (!options->folder[0] && !find_default(options->folder)) {
        snprintf(error, error_size,
                 "$HOME names no folder for what is to be pushed: give one with "
                 "--push-queue DIR");
        return -ISOSCOPE_INVALID;
    }
    length = strlen(options->folder);
    snprintf(options->folder + length, sizeof(options->folder) - length, "/%016" PRIx64,
             number_of(options->target.url));
    return 0;
}
