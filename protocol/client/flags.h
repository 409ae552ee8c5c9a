/*
 * flags.h - the VM's flags: what getFlagList lists and setFlag sets.
 *
 * The value of profile_period is the text that was asked for, even when the sampler was given
 * another period: DevTools asks again and again for what it does not find there. What really
 * holds is profile_period_effective. So it is of a saved session, which DevTools could not open without
 * errors otherwise: its samples, and what they say of their period, are what they were.
 */
#ifndef ISOSCOPE_FLAGS_H
#define ISOSCOPE_FLAGS_H

#include <jansson.h>
#include <stdint.h>

struct service;

enum { FLAG_TEXT_MAX = 128 };

struct flags {
    char period_text[FLAG_TEXT_MAX];
    uint32_t period_us; /* what the profile made of period_text; 0: nothing was asked yet */
};

enum flag_set {
    FLAG_SET,
    FLAG_UNKNOWN,
    FLAG_INVALID,
    FLAG_FIXED,
    FLAG_NO_ALLOC,  /* no program lets its allocations come by */
    FLAG_NO_LOCK,   /* nor its waits */
    FLAG_NO_FAULTS, /* nor do its page faults trap */
    FLAG_SAVED,     /* it would change what a program does, and none is there */
};

/* A list of Flag objects; NULL when out of memory. */
json_t *flags_list(struct service *service);

/* FLAG_SET: now is its value. */
enum flag_set flag_set(struct service *service, const char *name, const char *value,
                       char now[FLAG_TEXT_MAX]);

#endif
