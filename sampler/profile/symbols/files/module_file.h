/*
 * module_file.h - which file a module is, and how it can still be reached.
 *
 * A path is the profiled program's: it may be in a container, deleted or replaced by now. While a
 * process that maps it lives, the very file that runs is reached through it: its mapping (for
 * root), or its root directory (for its user).
 *
 * Ownership  Texts and bytes belong to who made it.
 */
#ifndef ISOSCOPE_MODULE_FILE_H
#define ISOSCOPE_MODULE_FILE_H

#include <stdint.h>

struct elf_file;
struct symbol_server;

struct module_file {
    const char *path;        /* as the program sees it */
    const uint8_t *build_id; /* the module's when it ran; names of another build would be lies */
    uint32_t build_id_bytes; /* 0: it has none */
    int32_t pid;             /* a process that maps it, or did; 0: none is known */
    uint64_t address;        /* where it begins there; not looked at without pid */
    struct symbol_server *server; /* may be asked for its debug data; NULL: none */
};

/* Opens the build that ran. NULL: *reason tells why, in static memory. */
struct elf_file *module_file_open(const struct module_file *module, const char **reason);

#endif
