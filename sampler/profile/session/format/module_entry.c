#include "module_entry.h"

#include "../../view/describe.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Modules whose offsets are names, and what a file says that they are. */
static const struct {
    const char *path, *word;
} named_modules[] = { { "[jit]", "jit" },
                      { "[interpreted]", "interpreted" },
                      { "[lock]", "lock" } };
enum { NAMED_JIT, NAMED_INTERPRETED, NAMED_LOCK, NAMED_MODULES };

/* NAMED_MODULES: it is another one. */
static int named_number(const char *path)
{
    int number = 0;

    while (number < NAMED_MODULES && strcmp(named_modules[number].path, path) != 0)
        number++;
    return number;
}

static const char *word_of(const struct module *module)
{
    int number = named_number(module->path);

    if (!atomic_load_explicit(&module->named, memory_order_acquire) || number == NAMED_MODULES)
        return NULL;
    return named_modules[number].word;
}

static void read_named(struct registry *registry, const char *path)
{
    int number = named_number(path);

    if (number == NAMED_LOCK)
        registry_locks(registry);
    else if (number != NAMED_MODULES)
        registry_named(registry, number == NAMED_JIT ? FEED_NAME_JIT : FEED_NAME_INTERPRETED);
}

static void write_code(const struct snapshot_library *library, json_t *object)
{
    if (!library->code_bytes)
        return;
    json_object_set_new(object, "codeOffset", entry_uint_of(library->code_offset));
    json_object_set_new(object, "codeBytes", entry_uint_of(library->code_bytes));
    json_object_set_new(object, "codeFileOffset", entry_uint_of(library->code_file_offset));
    json_object_set_new(object, "base", entry_uint_of(library->base));
}

json_t *module_entry_write(const struct module *module)
{
    struct snapshot_library library;
    json_t *object;

    describe_library(module, &library);
    object = json_pack("{s:i, s:o, s:s, s:I}", "number", (int)module->number, "path",
                       entry_text_of(module->path), "buildId", module->build_id_hex, "loadBias",
                       (json_int_t)library.load_bias);
    if (!object)
        return NULL;
    write_code(&library, object);
    if (library.reason)
        json_object_set_new(object, "reason", entry_text_of(library.reason));
    if (library.runtime)
        json_object_set_new(object, "runtime", json_string(library.runtime));
    if (library.runtime && library.system) /* of modules their place tells it */
        json_object_set_new(object, "system", json_true());
    if (library.runs)
        json_object_set_new(object, "runs", json_string(library.runs));
    if (library.lines_reason)
        json_object_set_new(object, "linesReason", entry_text_of(library.lines_reason));
    if (word_of(module))
        json_object_set_new(object, "names", json_string(word_of(module)));
    return object;
}

/* Returns how many bytes; fails the entry where it is none. */
static uint32_t read_build_id(struct entry *entry, uint8_t out[FEED_BUILD_ID_MAX])
{
    static const char digits[] = "0123456789abcdef";
    const char *hex = entry_text(entry, "buildId");
    size_t count = hex ? strlen(hex) : 0;

    if (count % 2 || count / 2 > FEED_BUILD_ID_MAX || (hex && strspn(hex, digits) != count)) {
        entry_fail(entry, "'buildId' is no number of at most %d bytes in hex", FEED_BUILD_ID_MAX);
        return 0;
    }
    for (size_t i = 0; i < count; i += 2)
        out[i / 2] = (uint8_t)((strchr(digits, hex[i]) - digits) << 4 |
                               (strchr(digits, hex[i + 1]) - digits));
    return (uint32_t)(count / 2);
}

static char *copy_text(struct entry *entry, const char *name)
{
    const char *text = entry_text(entry, name);
    char *copy = text ? strdup(text) : NULL;

    if (text && !copy)
        entry_fail(entry, "out of memory");
    return copy;
}

/* What is said later takes the place of what was said before. */
static void read_facts(struct entry *entry, struct module *module, bool open)
{
    struct module_saved saved = {
        .reason = copy_text(entry, "reason"),
        .lines_reason = copy_text(entry, "linesReason"),
        .code = { .address = entry_word(entry, "codeOffset"),
                  .size = entry_word(entry, "codeBytes"),
                  .offset = entry_word(entry, "codeFileOffset"),
                  .base = entry_word(entry, "base") },
        .open = open,
    };

    if (!module_save(module, &saved))
        entry_fail(entry, "out of memory");
    registry_seen(module, 0, 0, entry_word(entry, "loadBias"));
}

/* A word of a later isoscope's is some other one. */
static enum feed_runtime_kind runtime_of_word(const char *word)
{
    static const char *const words[] = {
#define WORD(name, word) word,
        FEED_RUNTIMES(WORD)
#undef WORD
    };
    int runtime = FEED_RUNTIME_KIND_COUNT - 1;

    while (runtime && strcmp(words[runtime], word) != 0)
        runtime--;
    return (enum feed_runtime_kind)runtime;
}

/* 0: there is no room. */
static uint32_t find_script(struct registry *registry, enum module_keeping keeping, uint32_t wanted,
                            enum feed_runtime_kind runtime, const char *path)
{
    if (keeping & MODULE_KEEP_NUMBER && registry_put_script(registry, wanted, runtime, path))
        return wanted;
    return registry_script(registry, runtime, path);
}

uint32_t module_entry_read(struct entry *entry, struct registry *registry,
                           enum module_keeping keeping, uint32_t *number)
{
    uint32_t wanted = (uint32_t)entry_int(entry, "number", 1, MODULES_MAX), found;
    const char *path = entry_text(entry, "path"), *names = entry_text(entry, "names");
    const char *runtime = entry_text(entry, "runtime"), *runs = entry_text(entry, "runs");
    uint8_t build_id[FEED_BUILD_ID_MAX];
    uint32_t build_id_bytes = read_build_id(entry, build_id);

    if (!path || !wanted)
        entry_fail(entry, "'number' or 'path' is missing");
    if (entry->bad)
        return 0;
    if (runtime)
        found = find_script(registry, keeping, wanted, runtime_of_word(runtime), path);
    else if (!(keeping & MODULE_KEEP_NUMBER) ||
             !registry_put(registry, wanted, path, build_id, build_id_bytes))
        found = registry_number(registry, path, build_id, build_id_bytes);
    else
        found = wanted;
    *number = wanted;
    if (!found) {
        entry_fail(entry, "there is no room for another module");
        return 0;
    }
    read_facts(entry, registry_module(registry, found), keeping & MODULE_OPEN);
    if (runs)
        module_runs(registry_module(registry, found), runtime_of_word(runs));
    if (names)
        read_named(registry, path);
    return found;
}
