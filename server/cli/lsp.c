#include "lsp.h"

#include "../console/log_line.h"
#include "../console/option_table.h"
#include "../console/status.h"
#include "node.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
    "Usage: isoscope lsp [OPTIONS] [SOURCE]\n"
    "\n"
    "A language server: editors start it, and it shows a profile beside the code. Functions get\n"
    "their shares as code lenses, hot lines hints, names their callers and callees as hovers.\n"
    "\n"
    "SOURCE is a service's URI or info file, or a session file. Without it, the service is taken\n"
    "that $ISOSCOPE_URI, an info file in the project or a running isoscope tells of, as soon as\n"
    "there is one. It speaks over standard input and output, and needs node, from 18 on.\n"
    "\n";

struct lsp_options {
    const char *source_map; /* the last one; node reads all of them */
    uint32_t hot;
    bool stdio;
    bool help;
};

/* FROM=TO, neither empty. */
static int take_source_map(void *field, const char *text, char *error, size_t size)
{
    const char *equals = strchr(text, '=');

    if (!equals || equals == text || !equals[1]) {
        snprintf(error, size, "expected FROM=TO, such as /build=/home/me/project, not '%s'", text);
        return -ISOSCOPE_INVALID;
    }
    *(const char **)field = text;
    return 0;
}

#define AT(field) .offset = offsetof(struct lsp_options, field)

static const struct option_row rows[] = {
    { "source-map", .kind = OPTION_TAKEN, AT(source_map), .take = take_source_map,
      .group = "Options", .value = "FROM=TO",
      .help = "files that the program was built of in FROM lie in TO here. May be given several "
              "times" },
    { "hot", .kind = OPTION_UINT32, AT(hot), .least = 0, .most = 100, .initial = 1,
      .means = "a percentage", .value = "PERCENT",
      .help = "lines with so much of the time, {range} percent, get hints (default: {default})" },
    { "stdio", .kind = OPTION_ON, AT(stdio), .help = "what it does anyway; some editors say it" },
    { "help", 'h', OPTION_HELP, AT(help), .help = "show this help" },
};
static const struct option_rows words = { rows, sizeof(rows) / sizeof(*rows) };
static const struct option_part parts[] = { { &words, 0 } };
static const struct option_table table = { "isoscope lsp", parts, 1, true };

int lsp_command(int argc, char **argv, const struct inherited *inherited)
{
    struct lsp_options options = { 0 };
    int status, first = option_table_begin(&table, usage, &options, argc, argv, &status);

    (void)inherited;
    if (first < 0)
        return status;
    if (argc - first > 1) {
        log_line("lsp takes one source, but got '%s' too", argv[first + 1]);
        return STATUS_USAGE;
    }
    return node_command(argv);
}
