/*
 * module_set.h - the modules that a process has met, by the profile's numbers: they outlive it.
 *
 * Ownership  All zeros is empty; module_set_free ends it.
 * Threads    The caller's lock.
 * Errors     A module that no memory is left for is not kept.
 */
#ifndef ISOSCOPE_MODULE_SET_H
#define ISOSCOPE_MODULE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module_set {
    uint64_t *words; /* a bit for each number */
    size_t count;    /* of words */
};

void module_set_add(struct module_set *set, uint32_t number);
bool module_set_has(const struct module_set *set, uint32_t number);
/* Adds all of from. */
void module_set_merge(struct module_set *set, const struct module_set *from);
void module_set_free(struct module_set *set);

#endif
