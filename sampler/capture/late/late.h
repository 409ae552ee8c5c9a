/*
 * late.h - a program that was linked before the sampler came: what it calls comes by us from now on.
 *
 *   calls/injected.c -> late_begin, late_link, late_unlink -> slots of all objects (late_image.h) by the table (late_calls.h)
 *   dlopen, dlsym, dlvsym of the program -> late_look: the slots of objects that have come since
 *
 * A slot is changed where it holds the very function that ours will call: a program with its own keeps that. One that is
 * bound with its first call is bound to ours where only one object has a function of that name. Calls without a slot stay as they are:
 * those within an object, those of programs linked statically, addresses that were copied before.
 *
 * What comes by dlopen is linked with the next call of the loader that the program makes, mostly the dlsym behind it: there is no
 * way to come after dlopen, which looks for libraries by its caller's address; and anywhere else the loader's lock, which
 * this needs, might be waited for with a lock in hand.
 *
 * Slots of pages that are read-only after relocation are made writable for as long as that takes.
 *
 * Threads    late_begin, late_link, late_unlink: one at a time. late_look: any.
 */
#ifndef ISOSCOPE_LATE_H
#define ISOSCOPE_LATE_H

#include <stdbool.h>
#include <stdint.h>

/* Fills the table. library: an address in each library of ours, the innermost first. False: there is no memory. */
bool late_begin(const void *const *libraries, uint32_t count);
/* After it: the program has this function itself. */
bool late_is_programs(const char *name);

/* Slots that were changed are counted, and those that could not be. */
struct late_count {
    uint32_t linked, refused;
};
void late_link(struct late_count *out);
/* As it was before. Who has copied an address of ours still calls by us. */
void late_unlink(void);

/* For late_<arch>.S: objects may have come. */
void late_look(void);

#endif
