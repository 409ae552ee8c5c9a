#include "registry.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/index16.h"
#include "../symbols/kernel/kernel_places.h"
#include "script_places.h"

#include <assert.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct registry {
    struct module **by_number; /* room for all: it never moves, and is looked at without a lock */
    _Atomic uint32_t count;    /* stored by registry_number and registry_put */
    struct index16 index;      /* registry_number only */
    struct names *names;
    struct codes *codes;
    struct kernel_places kernel; /* registry_kernel only */
};

static const uint8_t no_build_id[1];

static bool begins_with(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

static bool is_system(const char *path, uint32_t build_id_bytes)
{
    static const char *const roots[] = { "/lib/",       "/lib32/",      "/lib64/",
                                         "/libx32/",    "/usr/lib/",    "/usr/lib32/",
                                         "/usr/lib64/", "/usr/libx32/", "/usr/libexec/" };

    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
        if (begins_with(path, roots[i]))
            return true;
    return !strcmp(path, "[vdso]") || kernel_library_is(path, build_id_bytes);
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const uint8_t *byte = bytes;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_number(const void *array, uint16_t number)
{
    return ((struct module *const *)array)[number]->hash;
}

static void module_forget_saved(struct module *module)
{
    struct module_saved *saved = (struct module_saved *)module->saved;

    if (!saved)
        return;
    free(saved->reason);
    free(saved->lines_reason);
    free(saved);
}

bool module_save(struct module *module, const struct module_saved *saved)
{
    struct module_saved *kept = malloc(sizeof(*kept));

    if (!kept) {
        free(saved->reason);
        free(saved->lines_reason);
        return false;
    }
    *kept = *saved;
    module_forget_saved(module);
    module->saved = kept;
    return true;
}

static void module_free(struct module *module)
{
    if (!module)
        return;
    symbols_free(module->symbols);
    module_forget_saved(module);
    free(module->path);
    free(module);
}

static struct module *module_new(const char *path, size_t path_bytes, const uint8_t *build_id,
                                 uint32_t build_id_bytes)
{
    struct module *module = calloc(1, sizeof(*module));
    const char *slash;

    if (!module)
        return NULL;
    module->path = strndup(path, path_bytes);
    if (!module->path) {
        free(module);
        return NULL;
    }
    slash = strrchr(module->path, '/');
    module->name = slash && slash[1] ? slash + 1 : module->path;
    module->system = is_system(module->path, build_id_bytes);
    module->sampler = begins_with(module->name, "libisoscope.so") ||
                      begins_with(module->name, "libisoscope_alloc.so") ||
                      begins_with(module->name, "libisoscope_lock.so");
    module->build_id_bytes = build_id_bytes;
    memcpy(module->build_id, build_id, build_id_bytes);
    for (uint32_t i = 0; i < build_id_bytes; i++)
        snprintf(module->build_id_hex + 2 * i, 3, "%02x", build_id[i]);
    return module;
}

int registry_new(struct registry **out)
{
    struct registry *registry = calloc(1, sizeof(*registry));

    if (!registry)
        return -ISOSCOPE_NO_MEMORY;
    registry->by_number = calloc(MODULES_MAX + 1, sizeof(struct module *));
    if (registry->by_number)
        registry->by_number[0] = module_new("[unknown]", strlen("[unknown]"), no_build_id, 0);
    if (!registry->by_number || !registry->by_number[0] || names_new(&registry->names) < 0 ||
        codes_new(&registry->codes) < 0) {
        registry_free(registry);
        return -ISOSCOPE_NO_MEMORY;
    }
    /* Nobody can name what lies in no file. */
    atomic_init(&registry->by_number[0]->names, MODULE_NAMES_READ);
    registry->count = 1;
    *out = registry;
    return 0;
}

void registry_free(struct registry *registry)
{
    if (!registry)
        return;
    for (uint32_t i = 0; registry->by_number && i < registry->count; i++)
        module_free(registry->by_number[i]);
    names_free(registry->names);
    codes_free(registry->codes);
    kernel_places_free(&registry->kernel);
    free(registry->by_number);
    index16_free(&registry->index);
    free(registry);
}

/* What a module is known by, and where it stands or belongs. */
struct module_key {
    const char *path;
    size_t path_bytes;
    const uint8_t *build_id;
    uint32_t build_id_bytes;
    uint32_t script; /* 1 + feed_runtime_kind; 0: none */
    uint64_t hash;
    struct index16_walk walk;
};

static bool is_module(const struct module *module, const struct module_key *key)
{
    return module->build_id_bytes == key->build_id_bytes &&
           !memcmp(module->build_id, key->build_id, key->build_id_bytes) &&
           (module->script ? 1u + module->runtime : 0) == key->script &&
           !strncmp(module->path, key->path, key->path_bytes) && !module->path[key->path_bytes];
}

/* The kernel's mark on a mapping whose file is gone is no part of its name; without a build id it
 * tells the file from the one that has its place now. */
static size_t bytes_of_path(const char *path, uint32_t build_id_bytes)
{
    static const char mark[] = " (deleted)";
    size_t bytes = strlen(path), mark_bytes = strlen(mark);

    if (bytes > PATH_MAX)
        bytes = PATH_MAX;
    if (build_id_bytes && bytes > mark_bytes &&
        !memcmp(path + bytes - mark_bytes, mark, mark_bytes))
        return bytes - mark_bytes;
    return bytes;
}

/* Of path to script the key is filled in. False: no memory. */
static bool find_place(struct registry *registry, struct module_key *key)
{
    uint64_t hash =
        hash_bytes(UINT64_C(0xcbf29ce484222325) ^ key->script, key->path, key->path_bytes);

    assert(key->build_id_bytes <= FEED_BUILD_ID_MAX);
    key->hash = index16_mix(hash_bytes(hash, key->build_id, key->build_id_bytes));
    if (index16_reserve(&registry->index, hash_number, registry->by_number) < 0)
        return false;
    key->walk = index16_start(&registry->index, key->hash);
    while (*key->walk.slot && !is_module(registry->by_number[*key->walk.slot], key))
        index16_step(&registry->index, &key->walk);
    return true;
}

/* All that a script is there is in its frames: nobody reads its file for names. */
static void make_script(struct module *module, enum feed_runtime_kind runtime)
{
    module->script = true;
    module->runtime = (uint8_t)runtime;
    module->sampler = false;
    module->system = module->system || script_is_system(runtime, module->path);
    atomic_init(&module->names, MODULE_NAMES_READ);
}

static bool add_module(struct registry *registry, uint32_t number, struct module_key *key)
{
    struct module *module =
        module_new(key->path, key->path_bytes, key->build_id, key->build_id_bytes);

    if (!module)
        return false;
    module->hash = key->hash;
    module->number = number;
    if (key->script)
        make_script(module, (enum feed_runtime_kind)(key->script - 1));
    __atomic_store_n(&registry->by_number[number], module, __ATOMIC_RELEASE);
    if (number >= registry->count)
        registry->count = number + 1;
    index16_put(&registry->index, &key->walk, (uint16_t)number);
    return true;
}

static struct module_key key_of_file(const char *path, const uint8_t *build_id,
                                     uint32_t build_id_bytes)
{
    return (struct module_key){ .path = path,
                                .path_bytes = bytes_of_path(path, build_id_bytes),
                                .build_id = build_id,
                                .build_id_bytes = build_id_bytes };
}

static struct module_key key_of_script(enum feed_runtime_kind runtime, const char *path)
{
    struct module_key key = key_of_file(path, no_build_id, 0);

    key.script = 1u + (uint32_t)runtime;
    return key;
}

static uint32_t number_of(struct registry *registry, struct module_key *key)
{
    uint32_t number = registry->count;

    if (!find_place(registry, key))
        return 0;
    if (*key->walk.slot)
        return *key->walk.slot;
    return number <= MODULES_MAX && add_module(registry, number, key) ? number : 0;
}

static bool put_module(struct registry *registry, uint32_t number, struct module_key *key)
{
    return number && number <= MODULES_MAX && !registry->by_number[number] &&
           find_place(registry, key) && !*key->walk.slot && add_module(registry, number, key);
}

uint32_t registry_number(struct registry *registry, const char *path, const uint8_t *build_id,
                         uint32_t build_id_bytes)
{
    struct module_key key = key_of_file(path, build_id, build_id_bytes);

    return number_of(registry, &key);
}

uint32_t registry_script(struct registry *registry, enum feed_runtime_kind runtime,
                         const char *path)
{
    struct module_key key = key_of_script(runtime, path);

    return number_of(registry, &key);
}

uint32_t registry_kernel(struct registry *registry, uint64_t address, int64_t now_us,
                         uint64_t *offset)
{
    const struct kernel_place *place = kernel_places_find(&registry->kernel, address, now_us);
    uint32_t number =
        registry_number(registry, place->library, place->build_id, place->build_id_bytes);

    *offset = address - place->start;
    if (number)
        registry_seen(registry_module(registry, number), 0, 0, place->start);
    return number;
}

bool registry_put(struct registry *registry, uint32_t number, const char *path,
                  const uint8_t *build_id, uint32_t build_id_bytes)
{
    struct module_key key = key_of_file(path, build_id, build_id_bytes);

    return put_module(registry, number, &key);
}

bool registry_put_script(struct registry *registry, uint32_t number, enum feed_runtime_kind runtime,
                         const char *path)
{
    struct module_key key = key_of_script(runtime, path);

    return put_module(registry, number, &key);
}

uint32_t registry_end(const struct registry *registry)
{
    return registry->count;
}

void registry_seen(struct module *module, int32_t pid, uint64_t address, uint64_t bias)
{
    atomic_store_explicit(&module->bias, bias, memory_order_relaxed);
    if (pid <= 0)
        return; /* in another pid namespace: nothing there can be reached */
    atomic_store_explicit(&module->address, address, memory_order_relaxed);
    atomic_store_explicit(&module->pid, pid, memory_order_release);
}

void module_runs(struct module *module, enum feed_runtime_kind kind)
{
    atomic_store_explicit(&module->runs, (uint8_t)(kind + 1), memory_order_relaxed);
}

static uint32_t made_up(struct registry *registry, const char *path)
{
    uint32_t number = registry_number(registry, path, no_build_id, 0);

    if (number) {
        atomic_store_explicit(&registry->by_number[number]->names, MODULE_NAMES_READ,
                              memory_order_relaxed);
        atomic_store_explicit(&registry->by_number[number]->named, true, memory_order_release);
    }
    return number;
}

uint32_t registry_named(struct registry *registry, enum feed_name_kind kind)
{
    return made_up(registry, kind == FEED_NAME_JIT ? "[jit]" : "[interpreted]");
}

uint32_t registry_locks(struct registry *registry)
{
    return made_up(registry, "[lock]");
}

struct names *registry_names(const struct registry *registry)
{
    return registry->names;
}

struct codes *registry_codes(const struct registry *registry)
{
    return registry->codes;
}

struct module *registry_module(const struct registry *registry, uint32_t number)
{
    assert(number <= MODULES_MAX && registry->by_number[number]);
    return registry->by_number[number];
}

struct module *registry_find(const struct registry *registry, uint32_t number)
{
    if (number > MODULES_MAX)
        return NULL;
    return __atomic_load_n(&registry->by_number[number], __ATOMIC_ACQUIRE);
}
