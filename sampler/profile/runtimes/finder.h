/*
 * finder.h - which runtimes a process has, and all that their walkers must know.
 *
 *   a process' modules, new ones -> finder -> cpython_finder.h and its like -> feed_runtime -> feed
 *
 * From outside: symbols of the module's file (also those that the program does not export), unwind data
 * (a function's cold part lies elsewhere), words of the process' memory (_Py_DebugOffsets). A file is looked
 * at once: what it says is kept by build id, and only addresses are added for each process.
 *
 * Units      *_us: CLOCK_MONOTONIC microseconds.
 * Ownership  The finder owns the files that it keeps.
 * Threads    The collector.
 * Errors     A finder says no where it is not sure: native frames stand, and the reason is told.
 *            runtime_finder_new: 0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_RUNTIME_FINDER_H
#define ISOSCOPE_RUNTIME_FINDER_H

#include "../../feed/feed_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct feed_reader;
struct runtime_file;

/* A module of a process that may hold a runtime. */
struct runtime_module {
    int32_t pid;               /* as it is here */
    const char *path;          /* as the process has it, for names */
    struct runtime_file *file; /* its symbols and unwind data: runtime_file.h */
    uint64_t bias;             /* runtime address - ELF vaddr */
};

enum runtime_found {
    RUNTIME_NOT_HERE,
    RUNTIME_NOT_YET, /* it has not begun itself: ask again */
    RUNTIME_FOUND,
    RUNTIME_UNKNOWN, /* it is one, of a version or build that is not known: reason */
};

/* One kind's finder. reason: static text, for RUNTIME_UNKNOWN. out: zeroed; kind and all that follows
 * are filled in but ready; for RUNTIME_UNKNOWN version, where it can be told. */
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
enum runtime_found perl_find(const struct runtime_module *module, struct feed_runtime *out,
                             const char **reason);
enum runtime_found lua_find(const struct runtime_module *module, struct feed_runtime *out,
                            const char **reason);
enum runtime_found php_find(const struct runtime_module *module, struct feed_runtime *out,
                            const char **reason);

/* Where a kind's finder is asked: a module that has the symbol. It is looked for in modules whose file's
 * name begins so, and in the program itself, where it must be exported. */
struct runtime_kind {
    runtime_find find; /* NULL: the end of a list */
    enum feed_runtime_kind kind;
    const char *symbol;
    const char *beginnings[3];
};

enum { RUNTIME_KINDS_MAX = 32, RUNTIMES_WAITING_MAX = 8, RUNTIME_REASON_BYTES = 128 };

/* Looks at all processes, and remembers builds. */
struct runtime_finder;

/* kinds: NULL: those that are known. */
int runtime_finder_new(struct runtime_finder **out, const struct runtime_kind *kinds);
void runtime_finder_free(struct runtime_finder *finder); /* NULL is fine */

/* The modules of a process: those that its feed tells, numbered from 1 on, and those that wall mode's rounds
 * see from outside, from FEED_MODULES_MAX + 1 on: a program that sleeps before its first tick tells none. */
struct runtime_modules {
    struct feed_reader *reader;
    bool (*view)(void *context, uint32_t number, struct feed_module_view *out);
    void *context;
};

/* What was found in one process. All zeros at first. */
struct runtime_looks {
    uint32_t next, next_outside; /* modules from here on were not looked at */
    uint32_t told;               /* kinds whose frames are shown: 1 << feed_runtime_kind */
    struct runtime_place {
        uint32_t module;
        enum feed_runtime_kind kind;
        uint64_t bias;
    } places[FEED_RUNTIMES_MAX]; /* where they are */
    uint32_t place_count;
    uint32_t unknown;                  /* kinds that are there, and not known */
    char reason[RUNTIME_REASON_BYTES]; /* of the last of them: "python 3.15: ..." */
    struct runtime_waiting {
        uint32_t module, kind; /* kind: place in the list of kinds */
        int64_t next_us, wait_us;
    } waiting[RUNTIMES_WAITING_MAX];
    uint32_t waiting_count;
};

/* Modules that are new, and those that have not begun themselves. executable: the program's path. In
 * each round: it costs a load where there is nothing new. */
void runtime_finder_look(struct runtime_finder *finder, struct runtime_looks *looks,
                         const struct runtime_modules *modules, int32_t pid, const char *executable,
                         int64_t now_us);

#endif
