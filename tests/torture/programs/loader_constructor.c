/* A library whose constructor takes long: ticks while the loader holds its lock. */
#include "torture.h"

#include <dlfcn.h>

int main(void)
{
    begin();
    for (int i = 0; i < 3; i++) {
        void *library = dlopen("plugin_slow.so", RTLD_NOW);

        CHECK(library);
        CHECK(dlclose(library) == 0);
    }
    return fine();
}
