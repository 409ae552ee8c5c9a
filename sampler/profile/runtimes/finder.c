#include "finder.h"

#include "../../feed/feed_codes.h"
#include "../../feed/feed_reader.h"
#include "../../include/isoscope/isoscope.h"
#include "../base/grow.h"
#include "../base/map64.h"
#include "../symbols/files/module_key.h"
#include "runtime_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kinds that are known, by their finders: one line each. */
static const struct runtime_kind known_kinds[] = {
    { jvm_find, FEED_RUNTIME_JVM, "gHotSpotVMStructs", { "libjvm.so" } },
    { cpython_find, FEED_RUNTIME_CPYTHON, "_PyEval_EvalFrameDefault", { "libpython", "python" } },
    { v8_find, FEED_RUNTIME_V8, "v8dbg_off_fp_function", { "node", "libnode" } },
    { lua_find, FEED_RUNTIME_LUA, "lua_callk", { "liblua", "lua" } },
    { perl_find, FEED_RUNTIME_PERL, "Perl_runops_standard", { "libperl", "perl" } },
    { php_find, FEED_RUNTIME_PHP, "execute_ex", { "php", "libphp" } },
    { ruby_find, FEED_RUNTIME_RUBY, "ruby_current_vm_ptr", { "libruby", "ruby" } },
    { NULL, FEED_RUNTIME_OTHER, NULL, { NULL } },
};

enum { BUILDS_MAX = 4096, WAIT_FIRST_US = 2000, WAIT_MAX_US = 1000000 };

/* What a module's file says, whatever process has it. */
struct build {
    struct module_key key;
    struct runtime_file *file; /* NULL: no kind is in it */
    uint32_t kinds;            /* 1 << place in the list of kinds */
};

struct runtime_finder {
    const struct runtime_kind *kinds;
    struct map64 by_key; /* hash of the key -> place in builds + 1 */
    struct build *builds;
    uint32_t count, capacity;
};

int runtime_finder_new(struct runtime_finder **out, const struct runtime_kind *kinds)
{
    struct runtime_finder *finder = calloc(1, sizeof(*finder));

    if (!finder)
        return -ISOSCOPE_NO_MEMORY;
    finder->kinds = kinds ? kinds : known_kinds;
    *out = finder;
    return 0;
}

void runtime_finder_free(struct runtime_finder *finder)
{
    if (!finder)
        return;
    for (uint32_t i = 0; i < finder->count; i++)
        runtime_file_close(finder->builds[i].file);
    free(finder->builds);
    map64_free(&finder->by_key);
    free(finder);
}

static bool has_beginning(const struct runtime_kind *kind, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    for (size_t i = 0; i < sizeof(kind->beginnings) / sizeof(kind->beginnings[0]); i++)
        if (kind->beginnings[i] && !strncmp(name, kind->beginnings[i], strlen(kind->beginnings[i])))
            return true;
    return false;
}

/* Kinds that its name or its place speak for. */
static uint32_t likely_kinds(const struct runtime_finder *finder, const char *path,
                             const char *executable)
{
    uint32_t kinds = 0;

    for (uint32_t i = 0; i < RUNTIME_KINDS_MAX && finder->kinds[i].find; i++)
        if (has_beginning(&finder->kinds[i], path) || !strcmp(path, executable))
            kinds |= 1u << i;
    return kinds;
}

static bool has_symbol(struct runtime_file *file, const struct runtime_kind *kind, const char *path)
{
    uint64_t vaddr;

    return runtime_file_exports(file, kind->symbol) ||
           (has_beginning(kind, path) && runtime_file_symbol(file, kind->symbol, &vaddr, NULL));
}

/* Its file stays open where a kind is in it. */
static void read_build(const struct runtime_finder *finder, const struct module_file *module,
                       uint32_t likely, struct build *build)
{
    struct runtime_file *file = runtime_file_open(module);

    for (uint32_t i = 0; file && likely >> i; i++)
        if (likely & 1u << i && has_symbol(file, &finder->kinds[i], module->path))
            build->kinds |= 1u << i;
    if (build->kinds)
        build->file = file;
    else
        runtime_file_close(file);
}

/* NULL: no kind is in it, or there is no memory. */
static const struct build *build_of(struct runtime_finder *finder, const struct module_file *module,
                                    uint32_t likely)
{
    const struct module_key key = module_key_of(module);
    struct build build = { .key = key };
    uint32_t *place;
    bool added;

    if (finder->count == BUILDS_MAX || !GROW(finder->builds, finder->count, finder->capacity) ||
        !(place = map64_put(&finder->by_key, module_key_hash(&key), &added)))
        return NULL;
    if (added) {
        read_build(finder, module, likely, &build);
        finder->builds[finder->count] = build;
        *place = ++finder->count;
    }
    if (!*place || memcmp(&finder->builds[*place - 1].key, &key, sizeof(key)) != 0)
        return NULL;
    return finder->builds[*place - 1].kinds ? &finder->builds[*place - 1] : NULL;
}

/* As its headers have it, where that has numbers. */
static void name_version(enum feed_runtime_kind kind, uint32_t version, char out[32])
{
    static const char *const words[] = {
#define WORD(name, word) [FEED_RUNTIME_##name] = word,
        FEED_RUNTIMES(WORD)
#undef WORD
    };

    if (kind == FEED_RUNTIME_CPYTHON && version)
        snprintf(out, 32, "%s %u.%u", words[kind], version >> 24, version >> 16 & 0xff);
    else
        snprintf(out, 32, "%s", words[kind]);
}

static void say_unknown(struct runtime_looks *looks, enum feed_runtime_kind kind, uint32_t version,
                        const char *reason)
{
    char name[32];

    name_version(kind, version, name);
    looks->unknown |= 1u << kind;
    snprintf(looks->reason, sizeof(looks->reason), "%s: %s: its frames are not shown", name,
             reason);
}

static void note_told(struct runtime_looks *looks, uint32_t number, enum feed_runtime_kind kind,
                      uint64_t bias)
{
    looks->told |= 1u << kind;
    if (looks->place_count < FEED_RUNTIMES_MAX)
        looks->places[looks->place_count++] = (struct runtime_place){ number, kind, bias };
}

/* The same module by another number. */
static bool is_told(const struct runtime_looks *looks, enum feed_runtime_kind kind, uint64_t bias)
{
    for (uint32_t i = 0; i < looks->place_count; i++)
        if (looks->places[i].kind == kind && looks->places[i].bias == bias)
            return true;
    return false;
}

static enum runtime_found ask(const struct runtime_finder *finder, struct runtime_looks *looks,
                              struct feed_reader *reader, const struct runtime_module *module,
                              uint32_t number, uint32_t kind)
{
    const char *reason = "not known to this isoscope";
    struct feed_runtime runtime = { 0 };
    enum runtime_found found;

    if (is_told(looks, finder->kinds[kind].kind, module->bias))
        return RUNTIME_FOUND;
    found = finder->kinds[kind].find(module, &runtime, &reason);
    if (found == RUNTIME_FOUND) {
        runtime.kind = finder->kinds[kind].kind;
        if (feed_reader_runtime(reader, &runtime))
            note_told(looks, number, runtime.kind, module->bias);
        else
            say_unknown(looks, runtime.kind, runtime.version, "too many runtimes are in it");
    } else if (found == RUNTIME_UNKNOWN) {
        say_unknown(looks, finder->kinds[kind].kind, runtime.version, reason);
    }
    return found;
}

static struct runtime_module module_of(const struct build *build,
                                       const struct feed_module_view *view, int32_t pid)
{
    return (struct runtime_module){ pid, view->path, build->file, view->bias };
}

static void wait_for(struct runtime_looks *looks, uint32_t module, uint32_t kind, int64_t now_us)
{
    if (looks->waiting_count < RUNTIMES_WAITING_MAX)
        looks->waiting[looks->waiting_count++] =
            (struct runtime_waiting){ module, kind, now_us + WAIT_FIRST_US, WAIT_FIRST_US };
}

static const struct build *build_at(struct runtime_finder *finder,
                                    const struct runtime_modules *modules, uint32_t number,
                                    int32_t pid, const char *executable,
                                    struct feed_module_view *view)
{
    uint32_t likely;

    if (!modules->view(modules->context, number, view))
        return NULL;
    likely = likely_kinds(finder, view->path, executable);
    const struct module_file module = { .path = view->path,
                                        .build_id = view->build_id,
                                        .build_id_bytes = view->build_id_bytes,
                                        .pid = pid,
                                        .address = view->start };
    return likely ? build_of(finder, &module, likely) : NULL;
}

static void look_at(struct runtime_finder *finder, struct runtime_looks *looks,
                    const struct runtime_modules *modules, uint32_t number, int32_t pid,
                    const char *executable, int64_t now_us)
{
    struct feed_module_view view;
    const struct build *build = build_at(finder, modules, number, pid, executable, &view);

    for (uint32_t kind = 0; build && build->kinds >> kind; kind++) {
        const struct runtime_module module = module_of(build, &view, pid);

        if (build->kinds & 1u << kind &&
            ask(finder, looks, modules->reader, &module, number, kind) == RUNTIME_NOT_YET)
            wait_for(looks, number, kind, now_us);
    }
}

/* Returns whether it is to be asked again. */
static bool look_again(struct runtime_finder *finder, struct runtime_looks *looks,
                       const struct runtime_modules *modules, struct runtime_waiting *waiting,
                       int32_t pid, const char *executable, int64_t now_us)
{
    struct feed_module_view view;
    const struct build *build;

    if (now_us < waiting->next_us)
        return true;
    build = build_at(finder, modules, waiting->module, pid, executable, &view);
    if (!build)
        return false;
    const struct runtime_module module = module_of(build, &view, pid);
    waiting->wait_us += waiting->wait_us / 4;
    if (waiting->wait_us > WAIT_MAX_US)
        waiting->wait_us = WAIT_MAX_US;
    waiting->next_us = now_us + waiting->wait_us;
    return ask(finder, looks, modules->reader, &module, waiting->module, waiting->kind) ==
           RUNTIME_NOT_YET;
}

static bool is_there(const struct runtime_modules *modules, uint32_t number)
{
    struct feed_module_view view;

    return modules->view(modules->context, number, &view);
}

void runtime_finder_look(struct runtime_finder *finder, struct runtime_looks *looks,
                         const struct runtime_modules *modules, int32_t pid, const char *executable,
                         int64_t now_us)
{
    uint32_t count = feed_reader_modules(modules->reader), left = 0;

    for (uint32_t i = 0; i < looks->waiting_count; i++)
        if (look_again(finder, looks, modules, &looks->waiting[i], pid, executable, now_us))
            looks->waiting[left++] = looks->waiting[i];
    looks->waiting_count = left;
    if (!looks->next) {
        looks->next = 1;
        looks->next_outside = FEED_MODULES_MAX + 1;
    }
    for (; looks->next < count; looks->next++)
        look_at(finder, looks, modules, looks->next, pid, executable, now_us);
    for (; is_there(modules, looks->next_outside); looks->next_outside++)
        look_at(finder, looks, modules, looks->next_outside, pid, executable, now_us);
}
