/* Another preloaded library that wraps what isoscope wraps, and malloc, and counts. */
#include "torture.h"

#include <dlfcn.h>

#define EXPORT     __attribute__((visibility("default")))
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

EXPORT _Atomic int other_threads, other_opens, other_closes;

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *),
                          void *argument)
{
    other_threads++;
    return NEXT(pthread_create)(thread, attr, body, argument);
}

EXPORT void *dlopen(const char *name, int flags)
{
    other_opens++;
    return NEXT(dlopen)(name, flags);
}

EXPORT int dlclose(void *library)
{
    other_closes++;
    return NEXT(dlclose)(library);
}
