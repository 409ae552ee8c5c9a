/*
 * spin_plugin.so - what dlopen_plugin loads.
 */
#include "burn.h"

int plugin_spin(double seconds);

__attribute__((visibility("default"))) int plugin_spin(double seconds)
{
    struct burn burn = { .state = 88172645463325252u };
    double end = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) + seconds;

    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < end) {
        for (int i = 0; i < 100; i++)
            burn_rounds(&burn, burn_draw(&burn));
    }
    return burn.state != 0;
}
