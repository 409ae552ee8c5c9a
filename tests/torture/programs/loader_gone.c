/* A library that is in the samples is unloaded before anybody looks at them; another one comes to
 * its place. */
#include "torture.h"

#include <dlfcn.h>

static void use(const char *name, int milliseconds)
{
    void *library = dlopen(name, RTLD_NOW);
    void (*plugin_spin)(int);

    CHECK(library);
    plugin_spin = (void (*)(int))dlsym(library, "plugin_spin");
    CHECK(plugin_spin);
    plugin_spin(milliseconds);
    CHECK(dlclose(library) == 0);
}

int main(void)
{
    begin();
    for (int i = 0; i < 4; i++) {
        use("plugin_0.so", 50);
        use("plugin_1.so", 50);
    }
    return fine();
}
