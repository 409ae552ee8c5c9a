/*
 * injected.c - the doors for who has loaded this library into a running program, and holds the calling thread by ptrace until
 * it returns (sampler/remote/inject).
 */
#include "beside.h"
#include "preload.h"

#include "../../include/isoscope/isoscope.h"
#include "../late/late.h"
#include "../sampler.h"
#include "../threads/tracer.h"

/* What isoscope_start_injected is to load beside. */
enum { WITH_ALLOC = 1, WITH_LOCK = 2 };

/* The innermost first. */
static bool begin_late(void)
{
    const void *libraries[3] = { (const void *)begin_late };
    uint32_t count = 1;

    if (beside_alloc_filter())
        libraries[count++] = beside_alloc_filter();
    if (beside_lock_calls())
        libraries[count++] = beside_lock_calls();
    return late_begin(libraries, count);
}

static int start(const struct isoscope_options *options, uint32_t with)
{
    struct late_count count;
    int error;

    if ((with & WITH_ALLOC && !beside_load_alloc()) || (with & WITH_LOCK && !beside_load_lock()))
        return -ISOSCOPE_FOREIGN;
    if (!begin_late())
        return -ISOSCOPE_NO_MEMORY;
    error = isoscope_start(options);
    if (!error)
        late_link(&count);
    return error;
}

/* A service before that one has gone. */
ISOSCOPE_API int isoscope_start_injected(const struct isoscope_options *options, uint32_t with);
ISOSCOPE_API int isoscope_start_injected(const struct isoscope_options *options, uint32_t with)
{
    int error;

    if (sampler_has_ticks())
        isoscope_stop();
    late_unlink();
    tracer_expect(true);
    error = start(options, with);
    tracer_expect(false);
    return error;
}

/* The program calls nothing of ours from now on, but for the functions that its threads are in. */
ISOSCOPE_API int isoscope_stop_injected(void);
ISOSCOPE_API int isoscope_stop_injected(void)
{
    isoscope_stop();
    late_unlink();
    return 0;
}
