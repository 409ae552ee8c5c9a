/*
 * uring_waits.c - liburing's waits, and the same system call by syscall().
 *
 * liburing enters the kernel by itself, so its own functions are what can be seen. Its names are defined here for
 * every program, also where there is no liburing. Who is called is whom the caller would have called without us:
 * what all of the program sees behind us, or else what the caller's own library has (a plugin with a liburing that
 * nobody else sees, or in it). A program that asks by a weak name whether there is liburing, and has none, is told
 * -ENOSYS by the call, as by an old kernel; it finds none of the functions that make a ring.
 *
 * liburing's wait looks for what is there already without a call. A loop that always finds something never waits, but
 * submits: that is progress.
 */
#include "uring_waits.h"

#include "loop_waits.h"
#include "preload.h"

#include "../../include/isoscope/isoscope.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/io_uring.h>
#include <stddef.h>

static int (*next_dlclose)(void *);

/* Of the library that has the caller's code, and those that it needs. Each time: another library may come to its
 * place. */
static void *find_for(const void *caller, const char *name)
{
    Dl_info library;
    void *handle, *found;

    if (!dladdr(caller, &library) || !library.dli_fname)
        return NULL;
    handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return NULL;
    found = dlsym(handle, name);
    FIND_NEXT(dlclose);
    NEXT(dlclose)(handle); /* no library goes */
    return found;
}

#define URING_WAIT(name, parameters, arguments, waits)                                             \
    static int(*next_##name) parameters;                                                           \
    int name parameters;                                                                           \
    ISOSCOPE_API int name parameters                                                               \
    {                                                                                              \
        __typeof__(next_##name) call;                                                              \
        int result;                                                                                \
                                                                                                   \
        FIND_NEXT(name);                                                                           \
        call = NEXT(name) ? NEXT(name)                                                             \
                          : (__typeof__(call))find_for(__builtin_return_address(0), #name);        \
        if (!call)                                                                                 \
            return -ENOSYS;                                                                        \
        if (!(waits)) {                                                                            \
            loop_thread_goes_on();                                                                 \
            return call arguments;                                                                 \
        }                                                                                          \
        LOOP_WAIT_AROUND(result, URING, true, call arguments);                                     \
        return result;                                                                             \
    }

URING_WAIT(__io_uring_get_cqe,
           (void *ring, void **entry, unsigned submit, unsigned count, void *mask),
           (ring, entry, submit, count, mask), count > 0)
URING_WAIT(io_uring_wait_cqes,
           (void *ring, void **entry, unsigned count, void *timeout, void *mask),
           (ring, entry, count, timeout, mask), true)
URING_WAIT(io_uring_wait_cqe_timeout, (void *ring, void **entry, void *timeout),
           (ring, entry, timeout), true)
URING_WAIT(io_uring_submit_and_wait, (void *ring, unsigned count), (ring, count), count > 0)
URING_WAIT(io_uring_submit_and_wait_timeout,
           (void *ring, void **entry, unsigned count, void *timeout, void *mask),
           (ring, entry, count, timeout, mask), count > 0)
URING_WAIT(io_uring_submit, (void *ring), (ring), false)
URING_WAIT(io_uring_enter,
           (unsigned fd, unsigned submit, unsigned least, unsigned flags, void *mask),
           (fd, submit, least, flags, mask), least > 0 && (flags & IORING_ENTER_GETEVENTS))
URING_WAIT(io_uring_enter2,
           (unsigned fd, unsigned submit, unsigned least, unsigned flags, void *mask,
            size_t mask_bytes),
           (fd, submit, least, flags, mask, mask_bytes),
           least > 0 && (flags & IORING_ENTER_GETEVENTS))

long uring_waits_by_syscall(long (*next)(long, ...), struct loop_wait *wait, long fd, long submit,
                            long least, long flags, long mask, long mask_bytes)
{
    bool marks = least && (flags & IORING_ENTER_GETEVENTS) && LOOP_WAIT_ENTER(*wait, true);
    long result = next(SYS_io_uring_enter, fd, submit, least, flags, mask, mask_bytes);

    if (marks)
        loop_thread_leave_wait();
    return result;
}
