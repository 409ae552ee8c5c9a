/*
 * limit_calls.c - setrlimit and its kin: what is still to be opened or mapped comes before a lower
 * limit: a forked child's feed, and the unwind tables.
 */
#include "preload.h"

#include "../../feed/sys.h"
#include "../../include/isoscope/isoscope.h"
#include "../forked.h"
#include "../system/memory.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <ulimit.h>

enum { ULIMIT_BYTES = 512 };

/* As the kernel has it: on 64-bit machines all of libc's are the same. */
struct kernel_limit {
    uint64_t soft, hard;
};
static_assert(sizeof(struct kernel_limit) == sizeof(struct rlimit), "one form");

static bool meets_feed(long resource)
{
    return resource == RLIMIT_NOFILE || resource == RLIMIT_FSIZE || resource == RLIMIT_AS ||
           resource == RLIMIT_DATA;
}

/* One that cannot be read is the kernel's to refuse. */
static bool is_lower(long resource, const void *limit)
{
    struct kernel_limit wanted, now;

    return memory_read(0, &wanted, (uintptr_t)limit, sizeof wanted) &&
           sys_call4(SYS_prlimit64, 0, resource, NULL, &now) == 0 && wanted.soft < now.soft;
}

void preload_before_limit(long pid, long resource, const void *limit)
{
    if (limit && meets_feed(resource) && forked_is_unsettled() &&
        (!pid || pid == sys_call0(SYS_getpid)) && is_lower(resource, limit))
        forked_settle();
}

#define SETRLIMIT(name, limit_type)                                                                \
    static int (*next_##name)(__rlimit_resource_t, const limit_type *);                            \
    ISOSCOPE_API int name(__rlimit_resource_t resource, const limit_type *limit)                   \
    {                                                                                              \
        FIND_NEXT(name);                                                                           \
        preload_before_limit(0, resource, limit);                                                  \
        return NEXT(name)(resource, limit);                                                        \
    }

SETRLIMIT(setrlimit, struct rlimit)
SETRLIMIT(setrlimit64, struct rlimit64)

#define PRLIMIT(name, limit_type)                                                                  \
    static int (*next_##name)(pid_t, enum __rlimit_resource, const limit_type *, limit_type *);    \
    ISOSCOPE_API int name(pid_t pid, enum __rlimit_resource resource, const limit_type *limit,     \
                          limit_type *before)                                                      \
    {                                                                                              \
        FIND_NEXT(name);                                                                           \
        preload_before_limit(pid, resource, limit);                                                \
        return NEXT(name)(pid, resource, limit, before);                                           \
    }

PRLIMIT(prlimit, struct rlimit)
PRLIMIT(prlimit64, struct rlimit64)

static long (*next_ulimit)(int, ...);

ISOSCOPE_API long ulimit(int command, ...)
{
    struct kernel_limit limit;
    va_list more;
    long size;

    va_start(more, command);
    size = va_arg(more, long); /* nothing, where the command takes none */
    va_end(more);
    FIND_NEXT(ulimit);
    if (command == UL_SETFSIZE) {
        if (__builtin_mul_overflow((uint64_t)size, ULIMIT_BYTES, &limit.soft))
            limit.soft = RLIM_INFINITY;
        limit.hard = limit.soft;
        preload_before_limit(0, RLIMIT_FSIZE, &limit);
    }
    return NEXT(ulimit)(command, size);
}
