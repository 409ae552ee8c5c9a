#include "debug_file.h"

#include "../../../feed/cleanup.h"
#include "root.h"
#include "symbol_server.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define DEBUG_ROOT "/usr/lib/debug"

enum { BUILD_ID_MIN = 2, ROOTS = 2 };

/* What a file must be to be taken. */
struct wanted {
    const uint8_t *build_id;
    uint32_t build_id_bytes;
    bool by_crc32; /* there is no build id */
    uint32_t crc32;
    struct symbol_server *server; /* NULL: none is asked */
    int roots[ROOTS];             /* the process's, or ours twice; ours */
};

static struct wanted wanted_of(const struct module_file *module)
{
    return (struct wanted){ .build_id = module->build_id,
                            .build_id_bytes = module->build_id_bytes,
                            .server = module->server,
                            .roots = { root_of(module->pid), ROOT_OURS } };
}

static void wanted_end(struct wanted *wanted)
{
    root_close(wanted->roots[0]);
}

static bool is_wanted(struct elf_file *file, const struct wanted *wanted)
{
    uint32_t sum;

    /* A link may lead back to the stripped file itself. */
    if (!elf_file_has_symtab(file) && !elf_file_has_dwarf(file))
        return false;
    if (wanted->by_crc32)
        return elf_file_crc32(file, &sum) && sum == wanted->crc32;
    return elf_file_is_build(file, wanted->build_id, wanted->build_id_bytes);
}

/* Takes over file; NULL unless it is the one. */
static struct elf_file *checked(struct elf_file *file, const struct wanted *wanted)
{
    if (!file || is_wanted(file, wanted))
        return file;
    elf_file_close(file);
    return NULL;
}

static struct elf_file *open_at(const char *path, const struct wanted *wanted)
{
    struct elf_file *file = NULL;
    const char *reason;

    for (int i = wanted->roots[0] == ROOT_OURS; i < ROOTS && !file; i++)
        file = checked(elf_file_open(wanted->roots[i], path, &reason), wanted);
    return file;
}

static struct elf_file *open_by_build_id(const struct wanted *wanted)
{
    char path[sizeof(DEBUG_ROOT "/.build-id/") + 2 * FEED_BUILD_ID_MAX + sizeof("/.debug")];
    int at;

    if (wanted->build_id_bytes < BUILD_ID_MIN)
        return NULL;
    at = snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%02x/", wanted->build_id[0]);
    for (uint32_t i = 1; i < wanted->build_id_bytes; i++)
        at += snprintf(path + at, sizeof(path) - (size_t)at, "%02x", wanted->build_id[i]);
    snprintf(path + at, sizeof(path) - (size_t)at, ".debug");
    return open_at(path, wanted);
}

static struct elf_file *open_from_server(const struct wanted *wanted)
{
    const char *reason;
    int fd = -1;

    if (wanted->server)
        fd = symbol_server_find(wanted->server, wanted->build_id, wanted->build_id_bytes);
    return fd < 0 ? NULL : checked(elf_file_open_fd(fd, &reason), wanted);
}

/* The text at the section's beginning, and where what follows it does; NULL: there is none. */
static const char *link_in(struct elf_file *file, const char *name, const uint8_t **after,
                           uint64_t *left)
{
    uint64_t size, address;
    const uint8_t *link = elf_file_section(file, name, &size, &address);
    const uint8_t *end = link ? memchr(link, 0, size) : NULL;

    if (!end)
        return NULL;
    *after = end + 1;
    *left = size - (uint64_t)(end + 1 - link);
    return (const char *)link;
}

/* The places of a link from beside the path. */
static struct elf_file *open_linked(const char *link, const char *path, const struct wanted *wanted)
{
    static const char *const places[] = { "%.*s/%s", "%.*s/.debug/%s", DEBUG_ROOT "%.*s/%s" };
    const char *slash = strrchr(path, '/');
    struct elf_file *debug = NULL;
    char candidate[2 * PATH_MAX];

    if (path[0] != '/' || !link[0] || strchr(link, '/'))
        return NULL;
    for (size_t i = 0; !debug && i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(candidate, sizeof(candidate), places[i], (int)(slash - path), path, link);
        debug = open_at(candidate, wanted);
    }
    return debug;
}

static struct elf_file *open_debuglink(const struct module_file *module, struct elf_file *file,
                                       struct wanted *wanted)
{
    const uint8_t *after;
    uint64_t left, padding;
    const char *link = link_in(file, ".gnu_debuglink", &after, &left);

    if (!link)
        return NULL;
    padding = -(uint64_t)(after - (const uint8_t *)link) % sizeof(wanted->crc32);
    if (left >= padding + sizeof(wanted->crc32))
        memcpy(&wanted->crc32, after + padding, sizeof(wanted->crc32));
    wanted->by_crc32 = !wanted->build_id_bytes;
    return open_linked(link, module->path, wanted);
}

struct elf_file *debug_file_open(const struct module_file *module, struct elf_file *file)
{
    CLEANUP(wanted_end) struct wanted wanted = wanted_of(module);
    struct elf_file *debug = open_by_build_id(&wanted);

    if (!debug && file)
        debug = open_debuglink(module, file, &wanted);
    return debug ? debug : open_from_server(&wanted);
}

/* link: absolute, or relative to where debug really lies. */
static struct elf_file *open_altlink(const char *link, struct elf_file *debug,
                                     const struct wanted *wanted)
{
    char path[PATH_MAX], candidate[2 * PATH_MAX];
    const char *slash;

    if (link[0] == '/')
        return open_at(link, wanted);
    if (!elf_file_path(debug, path) || !(slash = strrchr(path, '/')))
        return NULL;
    snprintf(candidate, sizeof(candidate), "%.*s/%s", (int)(slash - path), path, link);
    return open_at(candidate, wanted);
}

struct elf_file *debug_file_alt(const struct module_file *module, struct elf_file *debug)
{
    CLEANUP(wanted_end) struct wanted wanted = wanted_of(module);
    struct elf_file *alt = NULL;
    uint64_t bytes;
    const char *link = link_in(debug, ".gnu_debugaltlink", &wanted.build_id, &bytes);

    /* It holds no code: its build id is all that tells it from another. */
    if (!link || bytes < BUILD_ID_MIN || bytes > FEED_BUILD_ID_MAX)
        return NULL;
    wanted.build_id_bytes = (uint32_t)bytes;
    if ((alt = open_altlink(link, debug, &wanted)) || (alt = open_by_build_id(&wanted)))
        return alt;
    return open_from_server(&wanted);
}

bool debug_file_has_altlink(struct elf_file *debug)
{
    uint64_t size, address;

    return elf_file_section(debug, ".gnu_debugaltlink", &size, &address) != NULL;
}
