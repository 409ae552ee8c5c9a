#include "debug_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define DEBUG_ROOT "/usr/lib/debug"

/* NULL unless the file is there and has the build id. */
static struct elf_file *open_build(const char *path, const struct module_file *module)
{
    const char *reason;
    struct elf_file *file = elf_file_open(path, &reason);
    uint8_t found[FEED_BUILD_ID_MAX];

    if (file && elf_file_build_id(file, found) == module->build_id_bytes &&
        !memcmp(found, module->build_id, module->build_id_bytes))
        return file;
    elf_file_close(file);
    return NULL;
}

static struct elf_file *open_by_build_id(const struct module_file *module)
{
    char path[sizeof(DEBUG_ROOT "/.build-id/") + 2 * FEED_BUILD_ID_MAX + sizeof("/.debug")];
    int at = snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%02x/", module->build_id[0]);

    for (uint32_t i = 1; i < module->build_id_bytes; i++)
        at += snprintf(path + at, sizeof(path) - (size_t)at, "%02x", module->build_id[i]);
    snprintf(path + at, sizeof(path) - (size_t)at, ".debug");
    return open_build(path, module);
}

struct elf_file *debug_file_open(const struct module_file *module, struct elf_file *file)
{
    static const char *const places[] = { "%.*s/%s", "%.*s/.debug/%s", DEBUG_ROOT "%.*s/%s" };
    struct elf_file *debug = open_by_build_id(module);
    const char *link = file ? elf_file_debuglink(file) : NULL;
    const char *slash = strrchr(module->path, '/');
    char candidate[2 * PATH_MAX];

    if (!link || !slash || strchr(link, '/'))
        return debug;
    for (size_t i = 0; !debug && i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(candidate, sizeof(candidate), places[i], (int)(slash - module->path), module->path,
                 link);
        debug = open_build(candidate, module);
    }
    return debug;
}
