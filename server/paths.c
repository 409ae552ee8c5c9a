#include "paths.h"

#include "../sampler/feed/cleanup.h"
#include "../sampler/include/isoscope/isoscope.h"

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

/* The first of places that is there, as an absolute path; relative ones start at the binary. */
static int first_of(char **out, const char *const *places)
{
    char folder[PATH_MAX], path[2 * PATH_MAX];
    int status = own_folder(folder);

    for (; status == 0 && *places; places++) {
        if ((*places)[0] == '/')
            snprintf(path, sizeof(path), "%s", *places);
        else
            snprintf(path, sizeof(path), "%s/%s", folder, *places);

        char *real = realpath(path, NULL);
        if (real) {
            *out = real;
            return 0;
        }
    }
    return status < 0 ? status : -ISOSCOPE_NOT_FOUND;
}

int paths_library(char **out)
{
    static const char *const places[] = {
        "../lib/libisoscope.so",
        "../lib/" ISOSCOPE_ARCHITECTURE "/isoscope/libisoscope.so",
        "../lib/" ISOSCOPE_ARCHITECTURE "/libisoscope.so",
        "../lib/isoscope/libisoscope.so",
        NULL,
    };

    return first_of(out, places);
}

int paths_python(char **out)
{
    static const char *const places[] = {
        "../share/isoscope/python",
        ISOSCOPE_PYTHON_SOURCE, /* a build tree: the package is used where it is written */
        NULL,
    };

    return first_of(out, places);
}
