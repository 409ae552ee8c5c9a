#include "debug_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define DEBUG_ROOT "/usr/lib/debug"

/* NULL unless the file is there and has the build id. */
static struct elf_file *open_build(const char *path, const uint8_t *build_id,
                                   uint32_t build_id_bytes)
{
    const char *reason;
    struct elf_file *file = elf_file_open(path, &reason);
    uint8_t found[FEED_BUILD_ID_MAX];

    if (file && elf_file_build_id(file, found) == build_id_bytes &&
        !memcmp(found, build_id, build_id_bytes))
        return file;
    elf_file_close(file);
    return NULL;
}

static struct elf_file *open_by_build_id(const uint8_t *build_id, uint32_t build_id_bytes)
{
    char path[sizeof(DEBUG_ROOT "/.build-id/") + 2 * FEED_BUILD_ID_MAX + sizeof("/.debug")];
    int at = snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%02x/", build_id[0]);

    for (uint32_t i = 1; i < build_id_bytes; i++)
        at += snprintf(path + at, sizeof(path) - (size_t)at, "%02x", build_id[i]);
    snprintf(path + at, sizeof(path) - (size_t)at, ".debug");
    return open_build(path, build_id, build_id_bytes);
}

struct elf_file *debug_file_open(const char *path, struct elf_file *module, const uint8_t *build_id,
                                 uint32_t build_id_bytes)
{
    static const char *const places[] = { "%.*s/%s", "%.*s/.debug/%s", DEBUG_ROOT "%.*s/%s" };
    struct elf_file *file = open_by_build_id(build_id, build_id_bytes);
    const char *link = module ? elf_file_debuglink(module) : NULL;
    const char *slash = strrchr(path, '/');
    char candidate[2 * PATH_MAX];

    if (!link || !slash || strchr(link, '/'))
        return file;
    for (size_t i = 0; !file && i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(candidate, sizeof(candidate), places[i], (int)(slash - path), path, link);
        file = open_build(candidate, build_id, build_id_bytes);
    }
    return file;
}
