#include "runtimes.h"

#include <string.h>

static SIGNAL_SAFE const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static SIGNAL_SAFE bool begins_with(const char *name, const char *beginning)
{
    return !strncmp(name, beginning, strlen(beginning));
}

bool runtime_keeps_frame_pointers(const char *path)
{
    const char *name = file_name(path);

    return !strcmp(name, "node") || begins_with(name, "libnode.so") || !strcmp(name, "sbcl");
}

bool runtime_has_trampolines(const char *path)
{
    const char *name = file_name(path);

    return begins_with(name, "python3") || begins_with(name, "libpython3");
}

bool runtime_changes_stacks(const char *path)
{
    return begins_with(file_name(path), "beam.");
}
