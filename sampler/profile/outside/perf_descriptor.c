#include "perf_descriptor.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool is_perf_descriptor(int fd)
{
    char path[32], target[64];
    ssize_t length;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    length = readlink(path, target, sizeof(target) - 1);
    if (length < 0)
        return false;
    target[length] = '\0';
    return strcmp(target, "anon_inode:[perf_event]") == 0;
}
