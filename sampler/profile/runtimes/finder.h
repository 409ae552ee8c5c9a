/*
 * finder.h - which runtimes a process has, and all that their walkers must know.
 *
 *   a process' modules, new ones -> finder -> cpython_finder.h and its like -> feed_runtime -> feed
 *
 * From outside: symbols of the module's file (also those that the program does not export), unwind data
 * (a function's cold part lies elsewhere), words of the process' memory (_Py_DebugOffsets). A file is looked
 * at once: what it says is kept by build id, and only addresses are added for each process.
 *
 * Threads    The collector.
 * Errors     A finder says no where it is not sure: native frames stand, and the reason is told.
 */
#ifndef ISOSCOPE_RUNTIME_FINDER_H
#define ISOSCOPE_RUNTIME_FINDER_H

#include "../../feed/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A module of a process that may hold a runtime. */
struct runtime_module {
    int32_t pid;             /* as it is here */
    const char *path;        /* as the process has it, for names */
    struct runtime_file *file; /* its symbols and unwind data: runtime_file.h */
    uint64_t bias;           /* runtime address - ELF vaddr */
};

enum runtime_found {
    RUNTIME_NOT_HERE,
    RUNTIME_NOT_YET, /* it has not begun itself: ask again */
    RUNTIME_FOUND,
    RUNTIME_UNKNOWN, /* it is one, of a version or build that is not known: reason */
};

/* One kind's finder. reason: static text, for RUNTIME_UNKNOWN. out: zeroed; kind and all that follows
 * are filled in but ready. */
typedef enum runtime_found (*runtime_find)(const struct runtime_module *module,
                                           struct feed_runtime *out, const char **reason);

enum runtime_found cpython_find(const struct runtime_module *module, struct feed_runtime *out,
                                const char **reason);
enum runtime_found jvm_find(const struct runtime_module *module, struct feed_runtime *out,
                            const char **reason);
enum runtime_found v8_find(const struct runtime_module *module, struct feed_runtime *out,
                           const char **reason);
enum runtime_found ruby_find(const struct runtime_module *module, struct feed_runtime *out,
                             const char **reason);
enum runtime_found php_find(const struct runtime_module *module, struct feed_runtime *out,
                            const char **reason);

#endif
