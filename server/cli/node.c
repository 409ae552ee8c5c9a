#include "node.h"

#include "own_path.h"

#include "../console/log_line.h"
#include "../console/status.h"
#include "../run/paths.h"

#include "../../sampler/feed/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The script of a word; NULL: it has been said what is missing. */
static char *script_of(const char *word)
{
    CLEANUP(paths_freep) char *folder = NULL;
    char *script = NULL;

    if (paths_editor(&folder) < 0)
        return NULL;
    if (asprintf(&script, "%s/%s.mjs", folder, word) < 0) {
        log_line("out of memory");
        return NULL;
    }
    return script;
}

int node_command(char **arguments)
{
    CLEANUP(paths_freep) char *script = script_of(arguments[0]);
    const char *chosen = getenv("ISOSCOPE_NODE");
    const char *node = chosen && chosen[0] ? chosen : "node";
    size_t count = 0;

    if (!script)
        return STATUS_FAILED;
    while (arguments[count])
        count++;

    char **all = calloc(count + 2, sizeof(*all));
    if (!all) {
        log_line("out of memory");
        return STATUS_FAILED;
    }
    own_path_tell();
    all[0] = (char *)node;
    all[1] = script;
    memcpy(all + 2, arguments + 1, (count - 1) * sizeof(*all));
    execvp(node, all);
    if (errno == ENOENT)
        log_line(
            "%s not found: `isoscope %s` runs in node, from 18 on: install Debian's nodejs, or "
            "set ISOSCOPE_NODE to another one",
            node, arguments[0]);
    else
        log_line("%s: %s", node, strerror(errno));
    free(all);
    return STATUS_FAILED;
}
