/*
 * root_calls.c - chroot and its kin: a program that moves to where our library is not.
 *
 * What it starts there could not load us, and the loader would say so on stderr each time. So our
 * name leaves LD_PRELOAD while it leads nowhere, and comes back with the old root. The text is
 * changed where it stands: no allocation, no lock, and environ stays what it is.
 */
#include "preload.h"

#include "../../feed/sys.h"
#include "../../include/isoscope/isoscope.h"
#include "../forked.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int (*next_chroot)(const char *);
static int (*next_pivot_root)(const char *, const char *);

static char *shortened; /* the variable's text that our name was taken out of; NULL: none */

/* As the loader was told it. */
static const char *own_path(void)
{
    Dl_info info;

    return dladdr((void *)preload_root_changed, &info) ? info.dli_fname : NULL;
}

static bool is_end(char c)
{
    return !c || c == ':' || c == ' ';
}

static void leave_out(char *preloads, const char *path)
{
    size_t length = strlen(path);
    const char *rest = preloads + length;

    if (strncmp(preloads, path, length) != 0 || !is_end(*rest))
        return;
    rest += *rest != 0;
    memmove(preloads, rest, strlen(rest) + 1);
    shortened = preloads;
}

static void put_back(char *preloads, const char *path)
{
    size_t length = strlen(path);
    bool more = preloads[0];

    memmove(preloads + length + more, preloads, strlen(preloads) + 1);
    memcpy(preloads, path, length);
    if (more)
        preloads[length] = ':';
    shortened = NULL;
}

void preload_root_changed(void)
{
    const char *path = own_path();
    char *preloads = getenv("LD_PRELOAD");
    bool found;

    if (!path || path[0] != '/' || !preloads)
        return;
    found = sys_call4(SYS_faccessat, AT_FDCWD, path, F_OK, 0) == 0;
    if (!found && !shortened)
        leave_out(preloads, path);
    else if (found && preloads == shortened) /* another text is the program's own */
        put_back(preloads, path);
}

static int told(int result)
{
    if (result == 0)
        preload_root_changed();
    return result;
}

ISOSCOPE_API int chroot(const char *path)
{
    FIND_NEXT(chroot);
    forked_settle();
    return told(NEXT(chroot)(path));
}

int pivot_root(const char *root, const char *old);
ISOSCOPE_API int pivot_root(const char *root, const char *old)
{
    FIND_NEXT(pivot_root);
    forked_settle();
    return told(NEXT(pivot_root)(root, old));
}
