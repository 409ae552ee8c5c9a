/*
 * descriptor_calls.c - the program's calls that put a descriptor on a number it has chosen.
 *
 * A tick that tends opens a file for a moment, on a number that is free. Put on that number, the
 * program's descriptor would be closed with it: such a call waits until nobody tends.
 */
#include "preload.h"

#include "../../include/isoscope/isoscope.h"
#include "../sampler_state.h"

#include <stdbool.h>
#include <unistd.h>

static int (*next_dup2)(int, int);
static int (*next_dup3)(int, int, int);

/* False: nothing tends here, or for too long. */
static bool keep_tending_away(uint64_t *mask)
{
    return sampler_running() && sampler.pid == (int32_t)getpid() && sampler_lock(mask);
}

ISOSCOPE_API int dup2(int from, int to)
{
    uint64_t mask;
    bool locked;
    int result;

    FIND_NEXT(dup2);
    locked = keep_tending_away(&mask);
    result = NEXT(dup2)(from, to);
    if (locked)
        sampler_unlock_to(&mask);
    return result;
}

ISOSCOPE_API int dup3(int from, int to, int flags)
{
    uint64_t mask;
    bool locked;
    int result;

    FIND_NEXT(dup3);
    locked = keep_tending_away(&mask);
    result = NEXT(dup3)(from, to, flags);
    if (locked)
        sampler_unlock_to(&mask);
    return result;
}
