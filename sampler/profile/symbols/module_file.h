/*
 * module_file.h - which file a module is, and how it can still be reached.
 *
 * A path is the profiled program's: it may be in a container, deleted or replaced by now. The
 * mapping of a process that still lives leads to the very file that runs.
 *
 * Ownership  Texts and bytes belong to who made it.
 */
#ifndef ISOSCOPE_MODULE_FILE_H
#define ISOSCOPE_MODULE_FILE_H

#include <stdint.h>

struct module_file {
    const char *path;        /* as the program sees it */
    const uint8_t *build_id; /* the module's when it ran; names of another build would be lies */
    uint32_t build_id_bytes; /* 0: it has none */
    int32_t pid;             /* a process that maps it, or did; 0: none is known */
    uint64_t start,
        end; /* one mapping of the file there, as in /proc/PID/map_files; 0, 0: not known */
};

#endif
