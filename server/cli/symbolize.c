#include "symbolize.h"

#include "../console/log_line.h"
#include "../console/option_table.h"
#include "../console/status.h"
#include "../push/push_options.h"
#include "../service/serve_words.h"
#include "addresses.h"
#include "session_copy.h"
#include "session_upload.h"

#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/profile.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "Usage: isoscope symbolize [OPTIONS] FILE\n"
    "       isoscope symbolize --upload URL [OPTIONS] FILE\n"
    "       isoscope symbolize < ADDRESSES\n"
    "\n"
    "Resolves names and lines with the files of this machine. FILE is a session that was recorded\n"
    "where they were missing (`isoscope record --no-symbols`); it is written anew, with them.\n"
    "\n"
    "With --upload the debug files of what FILE has samples of go to a store, and FILE stays as "
    "it\n"
    "is. Any HTTP server will do that keeps what is PUT at URL/buildid/BUILD_ID/debuginfo, where\n"
    "debuginfod's clients look for it.\n"
    "\n"
    "Without FILE, each line of the input is\n"
    "\n"
    "    BUILD_ID OFFSET PATH     BUILD_ID: hex, or - for none; OFFSET: decimal, or hex with 0x\n"
    "\n"
    "and each line of the output a JSON object: its frames, innermost first; where it has no\n"
    "names or no lines, the reason.\n"
    "\n";

struct symbolize_options {
    struct session_copy_options copy;
    struct session_upload_options upload;
    bool help;
};

static int take_text(void *field, const char *text, char *error, size_t error_size)
{
    (void)error, (void)error_size;
    *(const char **)field = text;
    return 0;
}

#define AT(field) .offset = offsetof(struct symbolize_options, field)

static const struct option_row rows[] = {
    { "output", 'o', OPTION_TAKEN, AT(copy.to), .take = serve_take_file, .group = "Options",
      .value = "OUT", .help = "write the session with names to OUT (default: FILE is replaced)" },
    { "debuginfod", .kind = OPTION_ON, AT(copy.debuginfod),
      .help = "download missing debug data from the servers in $DEBUGINFOD_URLS. Without this "
              "option no network is used" },
    { "upload", .kind = OPTION_TAKEN, AT(upload.url), .take = take_text, .group = "Upload",
      .value = "URL",
      .help = "send debug files to the store at URL, but those that are there: HEAD asks, PUT "
              "sends" },
    { "dry-run", .kind = OPTION_ON, AT(upload.dry), .help = "ask what is there, and send nothing" },
    { "upload-headers", .kind = OPTION_TAKEN, AT(upload.headers), .take = push_take_headers,
      .value = "FILE", .help = "HTTP headers to send along, one in a line: a password" },
    { "upload-limit", .kind = OPTION_MIB, AT(upload.bytes_max), .least = 1, .most = 65536,
      .initial = 1024, .value = "MIB", .means = "a number of MiB",
      .help = "leave out files that are larger, {range} MiB (default: {default})" },
    { "help", 'h', OPTION_HELP, AT(help), .help = "show this help" },
};
static const struct option_rows words = { rows, sizeof(rows) / sizeof(*rows) };
static const struct option_part parts[] = { { &words, 0 } };
static const struct option_table table = { "isoscope symbolize", parts, 1, true };

static int refuse_count(int argc, char **argv, int first)
{
    if (first == argc)
        log_line("symbolize: no file given: isoscope symbolize [OPTIONS] FILE");
    else
        log_line("symbolize takes one file, but got '%s' too", argv[first + 1]);
    return STATUS_USAGE;
}

/* NULL: there is none. */
static const char *disagreement(const struct symbolize_options *options)
{
    static char unreadable[PATH_MAX + 128];

    if (!options->upload.url && options->upload.dry)
        return "--dry-run is of --upload URL";
    if (!options->upload.url && options->upload.headers)
        return "--upload-headers is of --upload URL";
    if (options->upload.url && (options->copy.to || options->copy.debuginfod))
        return "--upload sends what this machine has, and writes nothing: -o and --debuginfod have "
               "no meaning with it";
    if (push_headers_agree("upload-headers", options->upload.headers, unreadable,
                           sizeof(unreadable)) < 0)
        return unreadable;
    return NULL;
}

int symbolize_command(int argc, char **argv, const struct inherited *inherited)
{
    struct symbolize_options options = { 0 };
    const char *problem;
    int status, first;

    (void)inherited;
    if (argc == 1)
        return addresses_symbolize();
    first = option_table_begin(&table, usage, &options, argc, argv, &status);
    if (first < 0)
        return status;
    if (argc - first != 1)
        return refuse_count(argc, argv, first);
    problem = disagreement(&options);
    if (problem) {
        log_line("symbolize: %s", problem);
        return STATUS_USAGE;
    }
    options.upload.file = options.copy.from = argv[first];
    if (options.upload.url)
        return session_upload(&options.upload);
    if (!options.copy.to)
        options.copy.to = options.copy.from;
    problem = options.copy.debuginfod ? profile_debuginfod_problem() : NULL;
    if (problem) {
        log_line("--debuginfod: %s", problem);
        return STATUS_FAILED;
    }
    return session_copy(&options.copy);
}
