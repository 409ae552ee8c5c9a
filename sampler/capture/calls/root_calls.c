/*
 * root_calls.c - chroot and its kin: a program that moves to where our library is not.
 *
 * What it starts there could not load us, and the loader would say so on stderr each time. So our
 * names leave LD_PRELOAD while they lead nowhere, and come back with the old root. The text is
 * changed where it stands: no allocation, no lock, and environ stays what it is.
 */
#include "preload.h"

#include "../../feed/sys.h"
#include "../../include/isoscope/isoscope.h"
#include "../forked.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int (*next_chroot)(const char *);
static int (*next_pivot_root)(const char *, const char *);

/* Of libisoscope_alloc.so and libisoscope_lock.so, where those are preloaded too. */
extern const uint8_t isoscope_alloc_filter[] __attribute__((weak));
extern const char isoscope_lock_calls __attribute__((weak));
enum { BESIDE = 2 };

static char *shortened; /* the variable's text that our names were taken out of; NULL: none */

/* As the loader was told it; NULL: the object is not there. */
static const char *path_of(const void *in_it)
{
    Dl_info info;

    return in_it && dladdr(in_it, &info) && info.dli_fname[0] == '/' ? info.dli_fname : NULL;
}

static bool is_end(char c)
{
    return !c || c == ':' || c == ' ';
}

/* False: it does not stand in front. */
static bool leave_out(char *preloads, const char *path)
{
    size_t length = strlen(path);
    const char *rest = preloads + length;

    if (strncmp(preloads, path, length) != 0 || !is_end(*rest))
        return false;
    rest += *rest != 0;
    memmove(preloads, rest, strlen(rest) + 1);
    return true;
}

static void put_back(char *preloads, const char *path)
{
    size_t length = strlen(path);
    bool more = preloads[0];

    memmove(preloads + length + more, preloads, strlen(preloads) + 1);
    memcpy(preloads, path, length);
    if (more)
        preloads[length] = ':';
}

/* Those beside ours stand behind it, in this order. */
void preload_root_changed(void)
{
    const char *path = path_of((void *)preload_root_changed);
    const char *const beside[BESIDE] = { path_of(isoscope_alloc_filter),
                                         path_of(&isoscope_lock_calls) };
    char *preloads = getenv("LD_PRELOAD");
    static bool had[BESIDE];
    bool found;

    if (!path || !preloads)
        return;
    found = sys_call4(SYS_faccessat, AT_FDCWD, path, F_OK, 0) == 0;
    if (!found && !shortened && leave_out(preloads, path)) {
        shortened = preloads;
        for (int i = 0; i < BESIDE; i++)
            had[i] = beside[i] && leave_out(preloads, beside[i]);
    } else if (found && preloads == shortened) { /* another text is the program's own */
        for (int i = BESIDE; i-- > 0;)
            if (had[i])
                put_back(preloads, beside[i]);
        put_back(preloads, path);
        shortened = NULL;
    }
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
