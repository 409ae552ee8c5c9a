/*
 * descriptor_calls.c - the program's calls that take numbers of descriptors which it never had.
 *
 * A tick that tends opens a file for a moment, on a number that is free. A call that puts the
 * program's descriptor there, or closes all numbers of a range, would take the file's place: the
 * tick would then read and close what is the program's. Such a call waits until nobody tends.
 */
#include "preload.h"

#include "../../include/isoscope/isoscope.h"
#include "../sampler_state.h"

#include <stdbool.h>
#include <unistd.h>

bool preload_keep_tending_away(uint64_t *mask)
{
    return sampler_running() && sampler.pid == (int32_t)getpid() && sampler_lock(mask);
}

#define DESCRIPTOR_CALL(name, parameters, arguments)                                               \
    static int(*next_##name) parameters;                                                           \
    int name parameters;                                                                           \
    ISOSCOPE_API int name parameters                                                               \
    {                                                                                              \
        uint64_t mask;                                                                             \
        bool locked;                                                                               \
        int result;                                                                                \
                                                                                                   \
        FIND_NEXT(name);                                                                           \
        locked = preload_keep_tending_away(&mask);                                                 \
        result = NEXT(name) arguments;                                                             \
        if (locked)                                                                                \
            sampler_unlock_to(&mask);                                                              \
        return result;                                                                             \
    }

DESCRIPTOR_CALL(dup2, (int from, int to), (from, to))
DESCRIPTOR_CALL(dup3, (int from, int to, int flags), (from, to, flags))
DESCRIPTOR_CALL(close_range, (unsigned first, unsigned last, int flags), (first, last, flags))

static void (*next_closefrom)(int);

ISOSCOPE_API void closefrom(int first)
{
    uint64_t mask;
    bool locked;

    FIND_NEXT(closefrom);
    locked = preload_keep_tending_away(&mask);
    NEXT(closefrom)(first);
    if (locked)
        sampler_unlock_to(&mask);
}
