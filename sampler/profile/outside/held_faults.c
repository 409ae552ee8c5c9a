#include "held_faults.h"

#include "../../capture/threads/user_clock.h"
#include "perf_descriptor.h"

#include <unistd.h>

void held_faults_take(struct held_faults *faults, int fd)
{
    bool has = fd >= 0 && is_perf_descriptor(fd);

    if (fd >= 0 && !has)
        close(fd);
    *faults = (struct held_faults){ .fd = fd, .has = has, .runs = has };
}

void held_faults_run(struct held_faults *faults, bool runs)
{
    if (faults->has && faults->runs != runs)
        user_clock_run(faults->fd, runs);
    faults->runs = faults->has && runs;
}

void held_faults_drop(struct held_faults *faults)
{
    held_faults_run(faults, false);
    if (faults->has)
        close(faults->fd);
    *faults = (struct held_faults){ 0 };
}
