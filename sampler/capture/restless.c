#include "restless.h"

#include "../feed/sys.h"

#include <fcntl.h>

enum {
    RUN_MIN_NS = 5 * 1000 * 1000, /* for a judgement */
    SLICES_MANY = 5,              /* in a millisecond of CPU time: 2 to 4 % of it */
    SLICES_FEW = 2,               /* between the two it stays what it was */
    NS_PER_MS = 1000 * 1000,
};

static uint64_t next_number(const char **text)
{
    uint64_t value = 0;

    while (**text == ' ')
        (*text)++;
    for (; **text >= '0' && **text <= '9'; (*text)++)
        value = value * 10 + (uint64_t)(**text - '0');
    return value;
}

void restless_judge(struct restless *restless, const char *schedstat)
{
    uint64_t run_ns = next_number(&schedstat);
    uint64_t waited_ns = next_number(&schedstat);
    uint64_t slices = next_number(&schedstat);
    uint64_t ran_ns = run_ns - restless->run_ns, more = slices - restless->slices;

    (void)waited_ns;
    if (run_ns < restless->run_ns || ran_ns < RUN_MIN_NS)
        return;
    restless->is = more * NS_PER_MS >= (restless->is ? SLICES_FEW : SLICES_MANY) * ran_ns;
    restless->run_ns = run_ns;
    restless->slices = slices;
}

void restless_look(struct restless *restless, const char *schedstat_path)
{
    char text[80];
    long fd = sys_call4(SYS_openat, AT_FDCWD, schedstat_path, O_RDONLY | O_CLOEXEC, 0), bytes;

    if (fd < 0)
        return;
    bytes = sys_call3(SYS_read, fd, text, sizeof text - 1);
    sys_call1(SYS_close, fd);
    if (bytes <= 0)
        return;
    text[bytes] = 0;
    restless_judge(restless, text);
}
