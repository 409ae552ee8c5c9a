/*
 * system_calls.h - what the system calls that threads wait in are called, and what they wait for.
 *
 *   blocked.h (number, arguments) -> system_call_of -> late_waits.h
 *
 * Threads    Any.
 * Source     the syscall numbers of <sys/syscall.h>; those that this machine has not are left out.
 */
#ifndef ISOSCOPE_SYSTEM_CALLS_H
#define ISOSCOPE_SYSTEM_CALLS_H

#include <stdbool.h>

enum call_waits {
    CALL_WAITS_IO, /* a descriptor or a disk */
    CALL_WAITS_LOCK,
    CALL_WAITS_SLEEP, /* time, or a signal */
    CALL_WAITS_CHILD,
    CALL_WAITS_FAULT, /* no call at all: pages */
    CALL_WAITS_COUNT,
};

/* Which argument says more. */
enum call_says {
    CALL_SAYS_NOTHING,
    CALL_SAYS_DESCRIPTOR,  /* the first */
    CALL_SAYS_POLLED,      /* the first is an array of pollfd, the second how many */
    CALL_SAYS_SELECTED,    /* the first is how many descriptors there are at most */
    CALL_SAYS_PATH,        /* the first points to a path */
    CALL_SAYS_PATH_AT,     /* the second does */
    CALL_SAYS_WORD,        /* the first points to a futex */
    CALL_SAYS_CHILD,       /* the first is a pid */
    CALL_SAYS_CHILD_OR_FD, /* waitid: the second, by the first */
};

struct system_call {
    const char *name;
    enum call_waits waits;
    enum call_says says;
    bool descriptors; /* an event loop's wait */
};

/* Never NULL; of a number that is not known: name "", an IO wait. */
const struct system_call *system_call_of(long number);

#endif
