/* dlmopen: a second libc, whose threads and locks are its own. */
#include "torture.h"

#include <dlfcn.h>

int main(void)
{
    begin();
    for (int i = 0; i < 4; i++) {
        void *library = dlmopen(LM_ID_NEWLM, "plugin_2.so", RTLD_NOW);
        void (*plugin_spin)(int);
        int (*value)(int);

        CHECK(library);
        plugin_spin = (void (*)(int))dlsym(library, "plugin_spin");
        value = (int (*)(int))dlsym(library, "plugin_value");
        CHECK(plugin_spin && value && value(i) == 300 + i);
        plugin_spin(80);
        CHECK(dlclose(library) == 0);
    }
    return fine();
}
