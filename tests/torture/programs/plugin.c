/* A library that is loaded and unloaded; PLUGIN_VALUE tells the copies apart. */
#include "torture.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int plugin_value(int added);
EXPORT void plugin_spin(int milliseconds);

int plugin_value(int added)
{
    volatile unsigned long state = 88172645463325252ul;

    state = burn(state, 2000);
    return PLUGIN_VALUE + added;
}

HOT void plugin_spin(int milliseconds)
{
    double end = cpu_s() + milliseconds / 1e3;
    volatile unsigned long state = 88172645463325252ul;

    while (cpu_s() < end)
        state = burn(state, 4000);
}

#ifdef PLUGIN_SLOW_START
HOT static void constructor_spin(void)
{
    plugin_spin(100);
    __asm__ volatile(""); /* no tail call: this frame is looked for */
}

__attribute__((constructor)) static void started(void)
{
    constructor_spin();
    __asm__ volatile("");
}
#endif
