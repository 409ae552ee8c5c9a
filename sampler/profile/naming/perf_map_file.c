#include "perf_map_file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PROC_BYTES = 4096, START_TICKS_FIELD = 20 /* counted from the one after the name */ };

struct identity {
    int32_t inner_pid; /* in its own namespace */
    uid_t user;
    int64_t start_s; /* CLOCK_REALTIME */
};

static bool read_proc(int32_t pid, const char *name, char text[PROC_BYTES])
{
    char path[64];
    ssize_t bytes;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bytes = read(fd, text, PROC_BYTES - 1);
    close(fd);
    text[bytes > 0 ? bytes : 0] = 0;
    return bytes > 0;
}

/* The numbered word after "\nLabel:" of /proc/PID/status, from 0; UINT32_MAX: the last one. */
static bool status_number(const char *status, const char *label, uint32_t number, long *out)
{
    const char *at = strstr(status, label);
    bool found = false;

    for (at += at ? strlen(label) : 0; at && *at != '\n'; number--) {
        char *end;
        long value = strtol(at, &end, 10);

        if (end == at)
            break;
        *out = value;
        found = true;
        if (number == 0)
            break;
        at = end;
    }
    return found;
}

static int64_t seconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec;
}

/* A name may hold spaces and brackets: what follows the last bracket is numbers. */
static bool start_of(int32_t pid, int64_t *out)
{
    char stat[PROC_BYTES];
    const char *at = read_proc(pid, "stat", stat) ? strrchr(stat, ')') : NULL;

    for (int field = 0; at && field < START_TICKS_FIELD; field++)
        at = strchr(at + 1, ' ');
    if (!at)
        return false;
    *out = seconds(CLOCK_REALTIME) - seconds(CLOCK_BOOTTIME) +
           strtoll(at, NULL, 10) / sysconf(_SC_CLK_TCK);
    return true;
}

static bool identify(int32_t pid, struct identity *out)
{
    char status[PROC_BYTES];
    long inner_pid, user;

    if (!read_proc(pid, "status", status) ||
        !status_number(status, "\nNSpid:", UINT32_MAX, &inner_pid) ||
        !status_number(status, "\nUid:", 1, &user) || !start_of(pid, &out->start_s))
        return false;
    out->inner_pid = (int32_t)inner_pid;
    out->user = (uid_t)user;
    return true;
}

static bool believable(const struct stat *file, const struct identity *identity)
{
    /* Clocks are read in whole seconds, one after the other. */
    return S_ISREG(file->st_mode) && (file->st_uid == identity->user || file->st_uid == 0) &&
           file->st_mtim.tv_sec >= identity->start_s - 2;
}

int perf_map_file_open(int32_t pid)
{
    struct identity identity;
    struct stat file;
    char path[96];
    int fd;

    if (pid <= 0 || !identify(pid, &identity))
        return -1;
    snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", pid, identity.inner_pid);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && fstat(fd, &file) == 0 && believable(&file, &identity))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}
