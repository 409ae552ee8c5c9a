/*
 * registry.h - every module any process of the profile has had, under one number each.
 *
 *   feed (its own numbers) -> process (maps) -> registry -> symbols, snapshot
 *
 * The same file in two processes, or twice in one, is one module: same build id and path. Where
 * there is a build id, a deleted file is the same module still.
 * Number 0 is code in no module.
 *
 * Code that has a name and no file stands in two made-up modules, where a frame's offset is the
 * name's number in the names of the registry. A file whose functions a runtime runs is a module, too, a
 * script: there a frame's offset is codes.h's.
 *
 * The kernel's own code is a module, and so is each module of its that has run: symbols/kernel.
 *
 * Ownership  Modules live as long as the registry; so do their symbols, names and codes.
 * Threads    registry_number, _script, _kernel, _put, _seen and _named: one at a time. The rest: any, also
 *            meanwhile.
 * Errors     registry_new: 0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_REGISTRY_H
#define ISOSCOPE_REGISTRY_H

#include "../../feed/layout.h"
#include "../store/names.h"
#include "../symbols/symbols.h"
#include "codes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MODULES_MAX = 65535 }; /* a stored frame has 16 bits for it */

enum module_names {
    MODULE_NAMES_UNREAD,
    MODULE_NAMES_WANTED, /* waits for the symbol worker */
    MODULE_NAMES_READ,
};

enum module_lines {
    MODULE_LINES_UNKNOWN, /* nobody has asked yet */
    MODULE_LINES_NONE,    /* its symbols say all there is to say */
    MODULE_LINES_SOME,
};

/* Of a module that was read elsewhere. */
struct module_saved {
    char *reason, *lines_reason; /* NULL: there are names, and lines */
    struct elf_segment code;     /* size 0: not known */
    bool open;                   /* it may be read here, too, which then says more */
};

struct module {
    uint32_t number;
    char *path;
    const char *name; /* last part of path */
    uint8_t build_id[FEED_BUILD_ID_MAX];
    uint32_t build_id_bytes;
    char build_id_hex[2 * FEED_BUILD_ID_MAX + 1];
    bool system;     /* lies where the system keeps its libraries; of a script: script_places.h */
    bool sampler;    /* libisoscope itself */
    bool script;     /* a file of a runtime's functions */
    uint8_t runtime; /* feed_runtime_kind; of a script */
    _Atomic uint8_t runs; /* feed_runtime_kind + 1: it is that runtime itself; 0: it is none */
    _Atomic bool named;   /* "[jit]" or "[interpreted]" */
    uint64_t hash;
    /* Where it ran last: any process's that may still live; 0: not known. */
    _Atomic int32_t pid;
    _Atomic uint64_t address; /* where it began there */
    _Atomic uint64_t bias;    /* address - offset there, also when pid is not known */
    _Atomic uint32_t names;   /* module_names; only symbolizer.h changes it */
    struct symbols *symbols;  /* set before names becomes READ; may then still be NULL: no memory */
    _Atomic uint32_t lines;   /* module_lines; only the symbol worker changes it */
    _Atomic(const char *) lines_reason; /* why there are none; static memory */
    const struct module_saved *saved;   /* what a session says of it; NULL: it is in none */
    /* symbolizer.h alone looks at these, under its lock. */
    bool asked;
    uint32_t jobs; /* not done yet */
};

struct registry;

int registry_new(struct registry **out);
void registry_free(struct registry *registry); /* NULL is fine */

/* Finds or adds; path may be anything the program wrote. 0 when there is no room. */
uint32_t registry_number(struct registry *registry, const char *path, const uint8_t *build_id,
                         uint32_t build_id_bytes);
/* The same of a file whose functions a runtime runs; path: or the runtime's word for what is in none. */
uint32_t registry_script(struct registry *registry, enum feed_runtime_kind runtime,
                         const char *path);
/* The kernel's code at that address, with where in it that is. 0: no room. */
uint32_t registry_kernel(struct registry *registry, uint64_t address, int64_t now_us,
                         uint64_t *offset);
/* Under the number that it had in another profile; others come behind it. False: it is taken, there
 * is one like it, or no room. */
bool registry_put(struct registry *registry, uint32_t number, const char *path,
                  const uint8_t *build_id, uint32_t build_id_bytes);
bool registry_put_script(struct registry *registry, uint32_t number, enum feed_runtime_kind runtime,
                         const char *path);
/* Numbers [0, registry_end) may have been given. */
uint32_t registry_end(const struct registry *registry);
/* A process that has it, at the address, which lies bias above its offset in the module; of these
 * the last one is kept. */
void registry_seen(struct module *module, int32_t pid, uint64_t address, uint64_t bias);
/* Its own code is there to run functions of that kind. */
void module_runs(struct module *module, enum feed_runtime_kind kind);
/* Takes over the texts, also on failure, in place of what was said before. False: no memory. For
 * whoever puts modules in. */
bool module_save(struct module *module, const struct module_saved *saved);
/* The module of the kind's code. */
uint32_t registry_named(struct registry *registry, enum feed_name_kind kind);
/* The module of what is waited for and lies in no module. */
uint32_t registry_locks(struct registry *registry);
struct names *registry_names(const struct registry *registry);
/* Of the frames of scripts. */
struct codes *registry_codes(const struct registry *registry);
/* number: one that registry_number gave, or 0. */
struct module *registry_module(const struct registry *registry, uint32_t number);
/* Any number: NULL when no module has it. */
struct module *registry_find(const struct registry *registry, uint32_t number);

#endif
