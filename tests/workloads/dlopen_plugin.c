/*
 * dlopen_plugin [CPU_SECONDS] - loads spin_plugin.so, which lies beside it, burns CPU_SECONDS in
 * its plugin_spin, unloads it, and does the same again.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static int load_and_spin(double seconds)
{
    /* RUNPATH $ORIGIN finds it: who wraps dlopen must not become the caller it starts from. */
    void *plugin = dlopen("spin_plugin.so", RTLD_NOW);
    int (*plugin_spin)(double);
    int result;

    if (!plugin) {
        puts("the plugin was not found beside the program");
        return 0;
    }
    *(void **)&plugin_spin = dlsym(plugin, "plugin_spin");
    result = plugin_spin ? plugin_spin(seconds) : 0;
    dlclose(plugin);
    return result;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 0.3;

    if (!load_and_spin(seconds) || !load_and_spin(seconds))
        return 1;
    puts("the plugin spun twice");
    return 0;
}
