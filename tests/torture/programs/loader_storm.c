/* Eight threads load, call and unload four libraries, all at once. */
#include "torture.h"

#include <dlfcn.h>

enum { THREADS = 8, ROUNDS = 450, LIBRARIES = 4 };

static _Atomic int started;

static void *storm(void *unused)
{
    int first = started++;

    for (int round = 0; round < ROUNDS; round++) {
        int which = (first + round) % LIBRARIES;
        char name[] = "plugin_0.so";
        void *library;
        int (*value)(int);

        name[7] = (char)('0' + which);
        library = dlopen(name, RTLD_NOW);
        CHECK(library);
        value = (int (*)(int))dlsym(library, "plugin_value");
        CHECK(value && value(round) == 100 * (which + 1) + round);
        CHECK(dlclose(library) == 0);
        spin_us(200);
    }
    return unused;
}

int main(void)
{
    begin();
    run_threads(THREADS, storm, NULL);
    return fine();
}
