/* A plugin host: its plugins are found by its own RUNPATH, $ORIGIN/plugins, wherever it is run. */
#include "torture.h"

#include <dlfcn.h>

int main(void)
{
    void *library;
    int (*value)(int);

    begin();
    spin(50);
    library = dlopen("beside.so", RTLD_NOW | RTLD_GLOBAL);
    CHECK(library);
    value = (int (*)(int))dlsym(library, "plugin_value");
    CHECK(value && value(1) == 501);
    CHECK(!dlopen("not-there.so", RTLD_NOW));
    CHECK(strstr(dlerror(), "not-there.so"));
    CHECK(dlclose(library) == 0);
    spin(50);
    return fine();
}
