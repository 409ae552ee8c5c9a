/* slow_plugin.so - computes for SLOW_PLUGIN_MS of CPU time while it is loaded. */
#include "burn.h"

#include <stdlib.h>

__attribute__((constructor)) static void slow_constructor(void)
{
    const char *ms = getenv("SLOW_PLUGIN_MS");
    struct burn burn = { .state = 88172645463325252u };
    double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + (ms ? atof(ms) : 0) / 1e3;

    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 20; i++)
            burn_rounds(&burn, burn_draw(&burn));
}
