/*
 * attached.h - the door: one running process that is sampled from outside, until it ends or is left.
 *
 *   server/attach -> attached_new -> scheme.h, on a thread of its own -> target/ -> *memfd -> joined -> profile_attach
 *                              or inject/inject.h -> the program's own sampler -> the service's feed socket
 *
 * Ownership  attached_free leaves the process, and ends the thread. Each memfd goes to joined.
 * Threads    attached_new, attached_free: one at a time. Callbacks come on the thread of attached's own, the first one of joined before
 *            attached_new returns.
 * Errors     attached_new: false, with a refusal.
 */
#ifndef ISOSCOPE_ATTACHED_H
#define ISOSCOPE_ATTACHED_H

#include "refusal.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct attached;
struct scheme_cost;

enum attached_via { ATTACHED_AUTO, ATTACHED_PERF, ATTACHED_SUSPEND, ATTACHED_INJECT };

struct attached_options {
    pid_t pid;               /* 0: every process of the machine, as it runs; by perf */
    enum attached_via via;   /* AUTO: perf, and where the kernel refuses that, suspend */
    bool interpreted;        /* AUTO: suspend for a known interpreter, whose functions are wanted */
    bool alone;              /* without the children that it makes */
    bool off_cpu;            /* its waits will be wanted: by perf alone */
    bool kernel;             /* the kernel's frames, too: by perf alone */
    const char *tables_path; /* as in target.h */
    /* INJECT: as in inject/inject.h. The program says hello at the socket by itself: nobody joins. */
    const char *library, *socket;
    uint32_t period_us;
    bool alloc, lock;
    bool eject; /* at the end: the sampler is stopped */
    /* It could not be. May be NULL. */
    void (*stayed)(void *context, const char *why);
    /* A program begins to be sampled: the process, a child of it, or what it became by exec. Takes over memfd. */
    void (*joined)(void *context, pid_t pid, pid_t parent, const char *exe, int memfd);
    void (*ended)(void *context); /* nothing is sampled any more: all programs have ended */
    void *context;
};

bool attached_new(struct attached **out, const struct attached_options *options,
                  struct refusal *why);
void attached_free(struct attached *attached); /* NULL is fine */

/* "perf", "suspend", "inject". */
const char *attached_word(const struct attached *attached);
/* Its threads stand still while they are looked at. */
bool attached_holds(const struct attached *attached);
/* Why the way that is preferred was not taken; "": it was. */
const char *attached_refused(const struct attached *attached);
/* Whether all programs have ended. */
bool attached_is_over(const struct attached *attached);
/* As it is now. */
void attached_cost(struct attached *attached, struct scheme_cost *out);

#endif
