#include "next.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

/* Two condition variables have one name; programs have been given this one since 2003. */
static const char condition_version[] = "GLIBC_2.3.2";

static int absent(void)
{
    return ENOSYS;
}

void *next_call_find(const char *name)
{
    void *found = isoscope_next_call(name);

    if (!found && name[0] == 'p' && name[sizeof "pthread_" - 1] == 'c')
        found = dlvsym(RTLD_NEXT, name, condition_version);
    if (!found)
        found = dlsym(RTLD_NEXT, name);
    return found ? found : (void *)absent;
}
