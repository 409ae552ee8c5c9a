#include "stall_settle.h"

#include "../net/delay.h"

#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/stalls.h"

#include <stdlib.h>

enum {
    LOOK_MS = 50, /* the first one comes after the watcher's last look at loops */
    LOOKS = 80,
};

struct stall_settle {
    struct profile *profile;
    struct delay *delay;
    void (*settled)(void *context);
    void *context;
    unsigned looks; /* left; 0: nobody waits */
};

static void look(void *context)
{
    struct stall_settle *settle = context;

    if (!settle->looks)
        return;
    if (--settle->looks && profile_stalls_open(settle->profile)) {
        delay_set(settle->delay, LOOK_MS);
        return;
    }
    settle->looks = 0;
    settle->settled(settle->context);
}

int stall_settle_new(struct stall_settle **out, struct loop *loop, struct profile *profile,
                     void (*settled)(void *context), void *context)
{
    struct stall_settle *settle = calloc(1, sizeof(*settle));

    if (!settle)
        return -ISOSCOPE_NO_MEMORY;
    *settle = (struct stall_settle){ .profile = profile, .settled = settled, .context = context };
    int status = delay_new(&settle->delay, loop, look, settle);
    if (status < 0)
        free(settle);
    else
        *out = settle;
    return status;
}

void stall_settle_free(struct stall_settle *settle)
{
    if (!settle)
        return;
    delay_free(settle->delay);
    free(settle);
}

void stall_settle_begin(struct stall_settle *settle, bool sure)
{
    if (!sure && !profile_stalls_open(settle->profile)) {
        settle->settled(settle->context);
        return;
    }
    settle->looks = LOOKS;
    delay_set(settle->delay, LOOK_MS);
}

void stall_settle_stop(struct stall_settle *settle)
{
    settle->looks = 0;
}
