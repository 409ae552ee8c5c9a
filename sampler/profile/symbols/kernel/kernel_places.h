/*
 * kernel_places.h - which part of the kernel an address lies in: the kernel itself, or one of its modules.
 *
 *   /proc/kallsyms, /proc/modules, /sys/kernel/notes -> kernel_places -> (library, offset)
 *
 * What lies in neither (BPF programs, trampolines) is the kernel's own.
 *
 * Ownership  All zeros is none read yet; kernel_places_free.
 * Threads    One at a time.
 * Errors     What cannot be read is not there: without addresses all is [kernel], by the address itself.
 */
#ifndef ISOSCOPE_KERNEL_PLACES_H
#define ISOSCOPE_KERNEL_PLACES_H

#include "../../../feed/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { KERNEL_LIBRARY_BYTES = 64 }; /* "[nf_tables]"; the kernel's own limit is 56 */
#define KERNEL_LIBRARY "[kernel]"

struct kernel_place {
    char library[KERNEL_LIBRARY_BYTES];
    uint64_t start, end; /* of the kernel: its code; 0, 0: it is hidden */
    uint8_t build_id[FEED_BUILD_ID_MAX];
    uint32_t build_id_bytes; /* 0: it has none, or it cannot be read */
};

struct kernel_places {
    struct kernel_place kernel;
    struct kernel_place *modules; /* by start */
    size_t module_count;
    int64_t looked_us; /* for modules */
    bool read;
};

/* The path is of the kernel or of a module of its: no other library in brackets has a build id, but [vdso]. */
bool kernel_library_is(const char *path, uint32_t build_id_bytes);

/* As it is now. */
void kernel_places_read(struct kernel_places *places);
/* Of texts as the kernel has them; NULL: there is none. Build ids are left out. */
void kernel_places_take(struct kernel_places *places, FILE *kallsyms, FILE *modules);
void kernel_places_free(struct kernel_places *places);
/* Reads what is not read yet. A module may have come since: now and then it looks. */
const struct kernel_place *kernel_places_find(struct kernel_places *places, uint64_t address,
                                              int64_t now_us);
/* NULL: there is no such module. */
const struct kernel_place *kernel_places_named(const struct kernel_places *places,
                                               const char *library);
/* Names and addresses are not for this user. */
bool kernel_places_hidden(const struct kernel_places *places);

/* One line of /proc/kallsyms. */
struct kernel_symbol {
    uint64_t address;
    char type; /* as nm has it */
    char *name;
    char library[KERNEL_LIBRARY_BYTES]; /* [kernel] for what belongs to no module */
};
/* line: is changed, and has the name. False: it is none. */
bool kernel_symbol_read(char *line, struct kernel_symbol *out);

#endif
