/*
 * late_image.h - one loaded object, by its dynamic section: what it defines, and the slots through which it calls others.
 *
 * Threads    Any, while nothing unloads the object: in dl_iterate_phdr's callback.
 * Errors     false: it has no dynamic section, or one without symbols.
 */
#ifndef ISOSCOPE_LATE_IMAGE_H
#define ISOSCOPE_LATE_IMAGE_H

#include "../system/glibc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LATE_SEGMENTS_MAX = 8 };

struct late_image {
    uint64_t bias, low, high; /* what it has mapped lies in between */
    uint64_t dynamic;
    struct {
        uint64_t low, high;
    } writable[LATE_SEGMENTS_MAX];
    uint32_t writable_count;
    uint64_t relro_low,
        relro_high; /* read-only once it is relocated; whole pages; equal: nothing is */
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint16_t *versions;        /* NULL: there are none */
    const uint32_t *hash, *old_hash; /* DT_GNU_HASH, DT_HASH; NULL: there is none */
    struct {
        const ElfW(Rela) * first;
        size_t count;
    } relocations[2];
};

bool late_image_of(struct late_image *out, const struct dl_phdr_info *object);

/* The function of that name which is bound by default; NULL: it defines none. *others: there is one of an older version, too. */
const void *late_image_function(const struct late_image *image, const char *name, bool *others);

/* Each function that it defines and exports. */
typedef void late_function_visit(void *context, const char *name, const void *function);
void late_image_functions(const struct late_image *image, late_function_visit *visit,
                          void *context);

/* Each place where the loader puts, or has put, a symbol's address. lazily: with the first call. */
typedef void late_slot_visit(void *context, const char *name, uint64_t *slot, bool lazily);
void late_image_slots(const struct late_image *image, late_slot_visit *visit, void *context);

#endif
