#include "mangled.h"

#include <libiberty/demangle.h>
#include <string.h>

/* Demangling is recursive; nobody reads longer names anyway. */
enum { MANGLED_BYTES_MAX = 16 * 1024 };

static char *demangle(const char *name, int options)
{
    if (strnlen(name, MANGLED_BYTES_MAX) == MANGLED_BYTES_MAX)
        return NULL;
    return cplus_demangle(name, options | DMGL_AUTO);
}

char *mangled_short(const char *name)
{
    return demangle(name, 0);
}

char *mangled_full(const char *name)
{
    return demangle(name, DMGL_PARAMS | DMGL_ANSI);
}
