#include "processes_named.h"

#include "../../sampler/remote/refusal.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What stands in a file of its in /proc; for a link, the last part of where it leads. */
static bool matches(const char *pattern, pid_t pid)
{
    char path[64], name[4096];
    const char *slash;
    ssize_t got = -1;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, name, sizeof(name) - 1);
        close(fd);
    }
    name[got > 0 ? got : 0] = '\0';
    name[strcspn(name, "\n")] = '\0';
    if (fnmatch(pattern, name, 0) == 0)
        return true;
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    got = readlink(path, name, sizeof(name) - 1);
    name[got > 0 ? got : 0] = '\0';
    slash = strrchr(name, '/');
    return got > 0 && fnmatch(pattern, slash ? slash + 1 : name, 0) == 0;
}

size_t processes_named(const char *pattern, pid_t *out, size_t room)
{
    struct dirent *entry;
    struct refusal why;
    size_t count = 0;
    DIR *all = opendir("/proc");

    while (all && count < room && (entry = readdir(all))) {
        pid_t pid = (pid_t)atol(entry->d_name);

        if (pid > 0 && matches(pattern, pid) && refusal_look(&why, pid))
            out[count++] = pid;
    }
    if (all)
        closedir(all);
    return count;
}
