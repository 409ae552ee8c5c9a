#include "pull_paths.h"

#include <string.h>

/* Named as Go names them: receivers know a profile by its types. */
#define CPU                                                                                        \
    {                                                                                              \
        .types = { { "samples", "count" }, { "cpu", "nanoseconds" } }, .count = 2, .period = {     \
            "cpu",                                                                                 \
            "nanoseconds"                                                                          \
        }                                                                                          \
    }
#define MEMORY                                                                                     \
    {                                                                                              \
        .types = { { "alloc_objects", "count" },                                                   \
                   { "alloc_space", "bytes" },                                                     \
                   { "inuse_objects", "count" },                                                   \
                   { "inuse_space", "bytes" } },                                                   \
        .count = 4, .period = {                                                                    \
            "space",                                                                               \
            "bytes"                                                                                \
        }                                                                                          \
    }
#define LIVE                                                                                       \
    {                                                                                              \
        .types = { { "inuse_objects", "count" }, { "inuse_space", "bytes" } }, .count = 2,         \
        .period = {                                                                                \
            "space",                                                                               \
            "bytes"                                                                                \
        }                                                                                          \
    }
#define WAITED                                                                                     \
    {                                                                                              \
        .types = { { "contentions", "count" }, { "delay", "nanoseconds" } }, .count = 2,           \
        .period = {                                                                                \
            "contentions",                                                                         \
            "count"                                                                                \
        }                                                                                          \
    }
#define FAULTS                                                                                     \
    {                                                                                              \
        .types = { { "samples", "count" }, { "page_faults", "count" } }, .count = 2, .period = {   \
            "page_faults",                                                                         \
            "count"                                                                                \
        }                                                                                          \
    }
#define WALL                                                                                       \
    {                                                                                              \
        .types = { { "samples", "count" }, { "wall", "nanoseconds" } }, .count = 2, .period = {    \
            "wall",                                                                                \
            "nanoseconds"                                                                          \
        }                                                                                          \
    }
/* Receivers know it by a period that has no type. */
#define OFF_CPU                                                                                    \
    {                                                                                              \
        .types = { { "samples", "count" }, { "off_cpu", "nanoseconds" } }, .count = 2,             \
    }
#define COUNTED(what)                                                                              \
    {                                                                                              \
        .types = { { what, "count" } }, .count = 1, .period = { what, "count" }                    \
    }

static const struct pull_path paths[] = {
    { "", PULL_INDEX, NULL, { 0 }, 0, { { { 0 } }, 0, { 0 } }, NULL, 0, PULL_WEIGHTS },
    { "profile",
      PULL_PROFILE,
      "CPU time of these seconds",
      { SAMPLES_OF_TIME },
      1,
      CPU,
      "cpu",
      30,
      PULL_WEIGHTS },
    { "wall",
      PULL_PROFILE,
      "wall time of these seconds, of all threads",
      { SAMPLES_OF_TIME },
      1,
      WALL,
      "wall",
      30,
      PULL_WALL },
    { "offcpu",
      PULL_PROFILE,
      "of it the time in which threads did not run",
      { SAMPLES_OF_TIME },
      1,
      OFF_CPU,
      "off_cpu",
      30,
      PULL_OFF_CPU },
    { "allocs",
      PULL_PROFILE,
      "memory: what was allocated, and what of it is not freed",
      { SAMPLES_OF_ALLOCATIONS, SAMPLES_OF_LIVE },
      2,
      MEMORY,
      "alloc_space",
      0,
      PULL_WEIGHTS },
    { "heap",
      PULL_PROFILE,
      "the same; what is not freed is shown first",
      { SAMPLES_OF_ALLOCATIONS, SAMPLES_OF_LIVE },
      2,
      MEMORY,
      "inuse_space",
      0,
      PULL_WEIGHTS },
    { "growth",
      PULL_PROFILE,
      "memory that is not freed",
      { SAMPLES_OF_LIVE },
      1,
      LIVE,
      "inuse_space",
      0,
      PULL_WEIGHTS },
    { "mutex",
      PULL_PROFILE,
      "waits for locks that another thread had",
      { SAMPLES_OF_LOCKS },
      1,
      WAITED,
      "delay",
      0,
      PULL_WEIGHTS },
    { "contention",
      PULL_PROFILE,
      "the same",
      { SAMPLES_OF_LOCKS },
      1,
      WAITED,
      "delay",
      0,
      PULL_WEIGHTS },
    { "block",
      PULL_PROFILE,
      "waits for something else that another thread was to do",
      { SAMPLES_OF_WAITS },
      1,
      WAITED,
      "delay",
      0,
      PULL_WEIGHTS },
    { "faults",
      PULL_PROFILE,
      "page faults",
      { SAMPLES_OF_FAULTS },
      1,
      FAULTS,
      "page_faults",
      0,
      PULL_WEIGHTS },
    { "goroutine",
      PULL_PROFILE,
      "empty: isoscope dump PID shows all threads' stacks",
      { 0 },
      0,
      COUNTED("goroutine"),
      "goroutine",
      0,
      PULL_WEIGHTS },
    { "threadcreate",
      PULL_PROFILE,
      "empty",
      { 0 },
      0,
      COUNTED("threadcreate"),
      "threadcreate",
      0,
      PULL_WEIGHTS },
    { "cmdline",
      PULL_COMMAND,
      "the program's command line",
      { 0 },
      0,
      { { { 0 } }, 0, { 0 } },
      NULL,
      0,
      PULL_WEIGHTS },
    { "symbol",
      PULL_SYMBOLS,
      "POST of addresses, 0x1+0x2: their functions",
      { 0 },
      0,
      { { { 0 } }, 0, { 0 } },
      NULL,
      0,
      PULL_WEIGHTS },
};

const struct pull_path *pull_path_at(size_t number)
{
    return number < sizeof(paths) / sizeof(*paths) ? &paths[number] : NULL;
}

/* What stands behind the folder: "" for itself. NULL: it is not below it. */
static const char *below(const char *path, const char *folder)
{
    size_t length = strlen(folder);

    if (strncmp(path, folder, length) != 0)
        return NULL;
    return path[length] == '/' ? path + length + 1 : path[length] ? NULL : path + length;
}

const struct pull_path *pull_path_find(const char *path, bool *gperftools)
{
    const char *name = below(path, "debug/pprof");
    const struct pull_path *found;

    *gperftools = !name;
    if (!name)
        name = below(path, "pprof");
    for (size_t i = 0; name && (found = pull_path_at(i)); i++)
        if (!strcmp(name, found->name))
            return found;
    return NULL;
}
