#include "module_file.h"

#include "../../../feed/cleanup.h"
#include "elf_file.h"
#include "root.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DELETED " (deleted)"

static void close_stream(FILE **stream)
{
    if (*stream)
        fclose(*stream);
}

static void free_line(char **line)
{
    free(*line);
}

/* Without a build id the path is all there is: a mapping's ends with it, also seen from outside a
 * chroot. */
static bool is_mapping_of(const struct module_file *module, const char *mapped)
{
    size_t bytes = strcspn(mapped, "\n"), wanted = strlen(module->path);

    if (module->build_id_bytes)
        return true; /* to be compared in the file itself */
    if (bytes > strlen(DELETED) &&
        !strncmp(mapped + bytes - strlen(DELETED), DELETED, strlen(DELETED)))
        bytes -= strlen(DELETED);
    if (wanted > strlen(DELETED) && !strcmp(module->path + wanted - strlen(DELETED), DELETED))
        wanted -= strlen(DELETED);
    return bytes >= wanted && !strncmp(mapped + bytes - wanted, module->path, wanted);
}

/* The name in /proc/PID/map_files of the mapping at the module's address. */
static bool find_mapping(const struct module_file *module, char name[64])
{
    CLEANUP(free_line) char *line = NULL;
    size_t capacity = 0;
    char path[32];

    snprintf(path, sizeof(path), "/proc/%d/maps", module->pid);
    CLEANUP(close_stream) FILE *maps = fopen(path, "re");
    while (maps && getline(&line, &capacity, maps) > 0) {
        uint64_t start, end;
        const char *mapped = strchr(line, '/');

        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2 || start > module->address)
            return false;
        if (start != module->address)
            continue;
        snprintf(name, 64, "%" PRIx64 "-%" PRIx64, start, end);
        return mapped && is_mapping_of(module, mapped);
    }
    return false;
}

/* NULL unless it is the build that ran. Takes over file. */
static struct elf_file *checked(struct elf_file *file, const struct module_file *module,
                                const char **reason)
{
    if (!file || !module->build_id_bytes ||
        elf_file_is_build(file, module->build_id, module->build_id_bytes))
        return file;
    *reason = "the file was replaced by another build";
    elf_file_close(file);
    return NULL;
}

/* The kernel opens it whatever has become of the path; it asks for CAP_SYS_ADMIN. */
static struct elf_file *open_mapping(const struct module_file *module)
{
    char mapping[64], path[128];
    const char *reason;

    if (module->pid <= 0 || !find_mapping(module, mapping))
        return NULL;
    snprintf(path, sizeof(path), "/proc/%d/map_files/%s", module->pid, mapping);
    return checked(elf_file_open(ROOT_OURS, path, &reason), module, &reason);
}

/* The program's own file, whatever has become of its path: that much the kernel gives to its user, too. */
static struct elf_file *open_program(const struct module_file *module)
{
    char path[32], mapped[PATH_MAX];
    const char *reason;
    ssize_t bytes;

    if (module->pid <= 0)
        return NULL;
    snprintf(path, sizeof(path), "/proc/%d/exe", module->pid);
    bytes = readlink(path, mapped, sizeof(mapped) - 1);
    mapped[bytes > 0 ? bytes : 0] = '\0';
    if (!is_mapping_of(module, mapped))
        return NULL;
    return checked(elf_file_open(ROOT_OURS, path, &reason), module, &reason);
}

static struct elf_file *open_in_its_root(const struct module_file *module)
{
    CLEANUP(root_closep) int root = root_of(module->pid);
    const char *reason;

    if (root == ROOT_OURS)
        return NULL;
    return checked(elf_file_open(root, module->path, &reason), module, &reason);
}

static bool process_lives(int32_t pid)
{
    return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

/* Why the path leads to no file. */
static const char *why_gone(const struct module_file *module)
{
    if (module->pid <= 0)
        return "no such file";
    if (process_lives(module->pid))
        return "deleted, or in a container; root may read it while its process lives";
    return "deleted, and its process has ended";
}

struct elf_file *module_file_open(const struct module_file *module, const char **reason)
{
    struct elf_file *file;

    if (!strcmp(module->path, "[vdso]"))
        return elf_file_open_vdso(reason);
    *reason = "not a file";
    if (module->path[0] != '/')
        return NULL;
    if ((file = open_mapping(module)) || (file = open_in_its_root(module)) ||
        (file = checked(elf_file_open(ROOT_OURS, module->path, reason), module, reason)) ||
        (file = open_program(module)))
        return file;
    if (access(module->path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
        *reason = why_gone(module);
    return NULL;
}
