#include "alloc_next.h"

#include <dlfcn.h>
#include <stdatomic.h>

__thread struct isoscope_memory_thread isoscope_memory_thread;

char early_place[EARLY_BYTES] __attribute__((aligned(64)));
static _Atomic size_t early_used;
static __thread bool looking __attribute__((tls_model("initial-exec")));

/* A library that a module brings along privately is not in the program's scope. */
static void *find_in_runtimes(const char *name)
{
    static const char *const runtimes[] = { "libstdc++.so.6", "libc++.so.1" };
    void *found = NULL;

    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes && !found; i++) {
        void *library = dlopen(runtimes[i], RTLD_LAZY | RTLD_NOLOAD);

        if (library) {
            found = dlsym(library, name);
            dlclose(library);
        }
    }
    return found;
}

void *next_call_find(const char *name)
{
    void *found;

    if (looking)
        return NULL;
    looking = true;
    found = isoscope_next_call(name);
    if (!found)
        found = dlsym(RTLD_NEXT, name);
    if (!found && name[0] == '_' && name[1] == 'Z')
        found = find_in_runtimes(name);
    looking = false;
    return found;
}

void *early_take(size_t bytes, size_t align)
{
    size_t used = atomic_load(&early_used), at;

    if (align < 16)
        align = 16;
    if (bytes > EARLY_BYTES || align > EARLY_BYTES)
        return NULL;
    do {
        at = (used + align - 1) & ~(align - 1);
        if (at + bytes > EARLY_BYTES)
            return NULL;
    } while (!atomic_compare_exchange_weak(&early_used, &used, at + bytes));
    return early_place + at;
}

size_t early_bytes(const void *address)
{
    return EARLY_BYTES - (size_t)((const char *)address - early_place);
}

bool next_calls_are_of(const void *address)
{
    static void *_Atomic base;
    Dl_info info;

    if (!atomic_load(&base) && dladdr(next_call_find("malloc"), &info))
        atomic_store(&base, info.dli_fbase);
    return dladdr(address, &info) && info.dli_fbase == atomic_load(&base);
}
