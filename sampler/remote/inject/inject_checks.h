/*
 * inject_checks.h - whether a process may be injected into at all, and where its libc is.
 *
 * Threads    One at a time.
 * Errors     false, with a refusal.
 */
#ifndef ISOSCOPE_INJECT_CHECKS_H
#define ISOSCOPE_INJECT_CHECKS_H

#include "inject.h"
#include "inject_place.h"

struct inject_libc {
    uint64_t dlopen, dlerror;
};

/* loads: it is to be sampled, not only to be left. */
bool inject_check(const struct inject_options *options, bool loads, struct inject_program *program,
                  struct inject_libc *libc, struct refusal *why);

#endif
