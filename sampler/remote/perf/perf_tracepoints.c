#include "perf_tracepoints.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of <linux/mount.h>, which does not go together with <sys/mount.h> everywhere. */
enum { TREE_CREATE = 6, TEXT_BYTES = 4096 };

/* A tracefs that is mounted nowhere; -1: none. */
static int open_tree(void)
{
    int context = (int)syscall(SYS_fsopen, "tracefs", 1), tree = -1;

    if (context < 0)
        return -1;
    if (syscall(SYS_fsconfig, context, TREE_CREATE, NULL, NULL, 0) == 0)
        tree = (int)syscall(SYS_fsmount, context, 1, 0);
    close(context);
    return tree;
}

static bool read_text(int tree, const char *path, char out[TEXT_BYTES])
{
    int fd = openat(tree, path, O_RDONLY | O_CLOEXEC);
    ssize_t got = -1;

    if (fd >= 0) {
        got = read(fd, out, TEXT_BYTES - 1);
        close(fd);
    }
    out[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* "field:long prev_state;\toffset:32;\tsize:8;" */
static bool find_field(const char *format, const char *name, uint32_t *at, uint32_t *size)
{
    const char *field = strstr(format, name);

    return field && sscanf(field + strlen(name), ";\toffset:%u;\tsize:%u", at, size) == 2;
}

static uint64_t find(int tree, const char *name, const char *field, uint32_t *at, uint32_t *size)
{
    char path[64], text[TEXT_BYTES];
    uint64_t number;

    snprintf(path, sizeof(path), "events/sched/%s/id", name);
    if (!read_text(tree, path, text))
        return 0;
    number = strtoull(text, NULL, 10);
    snprintf(path, sizeof(path), "events/sched/%s/format", name);
    return read_text(tree, path, text) && find_field(text, field, at, size) ? number : 0;
}

void perf_tracepoints_find(struct perf_tracepoints *out)
{
    uint32_t size;
    int tree = open_tree();

    *out = (struct perf_tracepoints){ 0 };
    if (tree < 0)
        return;
    out->switches = find(tree, "sched_switch", " prev_state", &out->state_at, &out->state_size);
    /* Of the two, it is the one that comes while the waker runs. */
    out->wakeups = find(tree, "sched_waking", " pid", &out->woken_at, &size);
    close(tree);
}
