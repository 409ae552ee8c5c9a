#include "paths.h"

#include "../console/log_line.h"

#include "../../sampler/feed/cleanup.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void paths_freep(char **path)
{
    free(*path);
}

/* The folder of this binary, without symlinks. */
static int own_folder(char out[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", out, PATH_MAX - 1);

    if (length <= 0)
        return -ISOSCOPE_SYSTEM;
    out[length] = '\0';

    char *slash = strrchr(out, '/');
    if (!slash)
        return -ISOSCOPE_SYSTEM;
    *slash = '\0';
    return 0;
}

/* The path without symlinks, but for its last part: libisoscope.so.0 stays that through an upgrade,
 * which replaces what it leads to. NULL: there is no such thing. */
static char *real_place(char *path)
{
    char *slash = strrchr(path, '/'), *out = NULL;

    if (!slash || access(path, F_OK) != 0)
        return NULL;
    *slash = '\0';

    char *folder = realpath(path, NULL);
    if (folder && asprintf(&out, "%s/%s", folder, slash + 1) < 0)
        out = NULL;
    free(folder);
    return out;
}

/* The first of places, which start at the binary, that is there. */
static int first_of(char **out, const char *const *places)
{
    char folder[PATH_MAX], path[2 * PATH_MAX];
    int status = own_folder(folder);

    for (; status == 0 && *places; places++) {
        snprintf(path, sizeof(path), "%s/%s", folder, *places);

        char *real = real_place(path);
        if (real) {
            *out = real;
            return 0;
        }
    }
    return status < 0 ? status : -ISOSCOPE_NOT_FOUND;
}

/* Each: where an install has it, then where a build tree has it. */
static const char *const library_places[] = { ISOSCOPE_LIBRARY_PLACE "/" ISOSCOPE_LIBRARY,
                                              "../lib/" ISOSCOPE_LIBRARY, NULL };
static const char *const python_places[] = { ISOSCOPE_DATA_PLACE "/isoscope/python",
                                             "../share/isoscope/python", NULL };

static const char *const editor_places[] = { ISOSCOPE_DATA_PLACE "/isoscope/editor",
                                             "../share/isoscope/editor", NULL };

/* places: the first is the one to name. */
static int find_place(char **out, const char *const *places, const char *what)
{
    int status = first_of(out, places);

    if (status == -ISOSCOPE_SYSTEM)
        log_line("cannot locate isoscope's files: /proc/self/exe: %s (is /proc mounted?)",
                 strerror(errno));
    else if (status < 0)
        log_line("%s not found: expected at %s, relative to this command's folder", what,
                 places[0]);
    return status;
}

int paths_library(char **out)
{
    return find_place(out, library_places, "the sampler");
}

int paths_python(char **out)
{
    return find_place(out, python_places, "the Python client");
}

int paths_editor(char **out)
{
    return find_place(out, editor_places, "the editor client");
}
