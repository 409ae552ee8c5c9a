#include "mcp.h"

#include "../console/log_line.h"
#include "../console/option_table.h"
#include "../console/status.h"
#include "node.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char usage[] =
    "Usage: isoscope mcp [OPTIONS] [SOURCE]...\n"
    "\n"
    "A Model Context Protocol server: assistants start it, and read profiles by its tools: what\n"
    "is slow and why, callers and callees, source lines, what changed, stalls, allocations.\n"
    "\n"
    "SOURCE is a service's URI or info file, or a session file. Without any, they are those that\n"
    "$ISOSCOPE_URI, files in the project and running isoscopes tell of. Nothing else can be read\n"
    "by it. It speaks over standard input and output, and needs node, from 18 on.\n"
    "\n";

struct mcp_options {
    const char *root; /* the last one; node reads all of them */
    bool help;
};

static int take_folder(void *field, const char *text, char *error, size_t size)
{
    struct stat status;

    if (stat(text, &status) < 0) {
        snprintf(error, size, "cannot read '%s': %s", text, strerror(errno));
        return -ISOSCOPE_INVALID;
    }
    if (!S_ISDIR(status.st_mode)) {
        snprintf(error, size, "expected a folder, and '%s' is a file", text);
        return -ISOSCOPE_INVALID;
    }
    *(const char **)field = text;
    return 0;
}

#define AT(field) .offset = offsetof(struct mcp_options, field)

static const struct option_row rows[] = {
    { "root", .kind = OPTION_TAKEN, AT(root), .take = take_folder, .group = "Options",
      .value = "DIR",
      .help = "a folder of the project, where services and sessions are looked for (default: the "
              "current one). May be given several times" },
    { "help", 'h', OPTION_HELP, AT(help), .help = "show this help" },
};
static const struct option_rows words = { rows, sizeof(rows) / sizeof(*rows) };
static const struct option_part parts[] = { { &words, 0 } };
static const struct option_table table = { "isoscope mcp", parts, 1, true };

int mcp_command(int argc, char **argv, const struct inherited *inherited)
{
    struct mcp_options options = { 0 };
    int status;

    (void)inherited;
    if (option_table_begin(&table, usage, &options, argc, argv, &status) < 0)
        return status;
    return node_command(argv);
}
