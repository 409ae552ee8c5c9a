#include "held_clock.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LOOK_US = 40000 };

/* The program could have sent any descriptor, on which these ioctls mean something else. */
static bool is_perf_event(int fd)
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

void held_clock_take(struct held_clock *clock, int fd)
{
    *clock = (struct held_clock){ .fd = fd };
    if (fd >= 0 && !is_perf_event(fd))
        held_clock_drop(clock);
}

static bool is_traced(int32_t pid)
{
    static const char label[] = "\nTracerPid:\t";
    char path[32], text[1024];
    const char *found;
    ssize_t length;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    length = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    found = strstr(text, label);
    return found && atoi(found + sizeof(label) - 1) != 0;
}

bool held_clock_look(struct held_clock *clock, int32_t pid, int64_t now_us)
{
    bool traced;

    if ((clock->fd < 0 && !clock->given_up) || pid <= 0 || now_us - clock->looked_us < LOOK_US)
        return false;
    clock->looked_us = now_us;
    traced = is_traced(pid);
    if (traced == clock->traced)
        return false;
    clock->traced = traced;
    if (traced && clock->fd >= 0) /* the program sets it going again, if it is to go */
        ioctl(clock->fd, PERF_EVENT_IOC_DISABLE, 0);
    return true;
}

void held_clock_give_up(struct held_clock *clock)
{
    clock->given_up |= clock->fd >= 0;
    held_clock_drop(clock);
}

void held_clock_drop(struct held_clock *clock)
{
    if (clock->fd >= 0)
        close(clock->fd);
    clock->fd = -1;
}
