/*
 * inject.h - the scheme of injecting: the sampler is loaded into a running program, as if the program had called dlopen.
 *
 *   attached.c -> inject -> inject_checks.h (may it be?), inject_place.h (where is it safe?), inject_call.h (dlopen, isoscope_start_injected)
 *     -> the program says hello to the service's feed socket, as under `isoscope run`
 *
 * Threads    Each call works on a thread of its own, which is the tracer; when that ends, nothing is traced.
 * Errors     false, with a refusal; the program runs on as before.
 */
#ifndef ISOSCOPE_INJECT_H
#define ISOSCOPE_INJECT_H

#include "../refusal.h"

#include <stdint.h>
#include <sys/types.h>

struct inject_options {
    pid_t pid;
    const char *library; /* libisoscope.so; absolute */
    const char *socket;  /* the service's, for feeds */
    uint32_t period_us;
    bool alloc,
        lock; /* with libisoscope_alloc.so, libisoscope_lock.so, which lie beside the library */
};

/* Loads the sampler, starts it, and turns the program's calls to it. */
bool inject(const struct inject_options *options, struct refusal *why);
/* Stops it: no timer, no tick, no feed, and the program's calls are as before. Its code stays mapped, for another thread may be about to return into it. */
bool inject_eject(const struct inject_options *options, struct refusal *why);

#endif
