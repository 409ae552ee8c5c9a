/* Runs with another preload before or behind isoscope's: each sees every call once. */
#include "torture.h"

#include <dlfcn.h>

static int count_of(const char *name)
{
    _Atomic int *count = (_Atomic int *)dlsym(RTLD_DEFAULT, name);

    CHECK(count);
    return *count;
}

static void *body(void *library_name)
{
    void *library = dlopen(library_name, RTLD_NOW);

    CHECK(library);
    spin(30);
    CHECK(dlclose(library) == 0);
    return NULL;
}

int main(int argc, char **argv)
{
    begin();
    CHECK(argc == 2);
    run_threads(5, body, argv[1]);
    CHECK(count_of("other_threads") == 5);
    CHECK(count_of("other_opens") == 5);
    CHECK(count_of("other_closes") == 5);
    return fine();
}
