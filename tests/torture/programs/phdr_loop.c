/* dl_iterate_phdr without end in two threads while a third loads and unloads: the loader's lock is
 * always held by somebody. */
#include "torture.h"

#include <dlfcn.h>
#include <link.h>

static _Atomic int done;

static int count(struct dl_phdr_info *info, size_t size, void *modules)
{
    CHECK(size >= sizeof info->dlpi_addr);
    ++*(int *)modules;
    return 0;
}

static void *look(void *unused)
{
    while (!done) {
        int modules = 0;

        CHECK(dl_iterate_phdr(count, &modules) == 0 && modules >= 3);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];

    begin();
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, look, NULL) == 0);
    for (int i = 0; i < 1500; i++) {
        void *library = dlopen("plugin_3.so", RTLD_NOW);

        CHECK(library && dlclose(library) == 0);
    }
    done = 1;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return fine();
}
