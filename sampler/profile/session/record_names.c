#include "record_names.h"

#include "../base/grow.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 1000 };

static const char *ending_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

    return dot && dot != path && dot[-1] != '/' ? dot : path + strlen(path);
}

void record_names_next(const char *path, int64_t wall_us, char *out, size_t size)
{
    const char *ending = ending_of(path);
    time_t seconds = (time_t)(wall_us / 1000000);
    char stamp[32];
    struct tm utc;

    gmtime_r(&seconds, &utc);
    strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &utc);
    snprintf(out, size, "%.*s-%s%s", (int)(ending - path), path, stamp, ending);
    for (int number = 2; number < TRIES && access(out, F_OK) == 0; number++)
        snprintf(out, size, "%.*s-%s-%d%s", (int)(ending - path), path, stamp, number, ending);
}

void record_names_add(struct record_names *names, const char *path, uint32_t keep)
{
    char *copy = strdup(path);

    if (!copy || !GROW(names->paths, names->count, names->capacity)) {
        free(copy);
        return; /* it stays on the disk */
    }
    names->paths[names->count++] = copy;
    if (!keep || names->count <= keep)
        return;
    unlink(names->paths[0]);
    free(names->paths[0]);
    memmove(names->paths, names->paths + 1, --names->count * sizeof(*names->paths));
}

void record_names_free(struct record_names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        free(names->paths[i]);
    free(names->paths);
    *names = (struct record_names){ 0 };
}
