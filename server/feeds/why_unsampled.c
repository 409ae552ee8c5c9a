#include "why_unsampled.h"

#include "elf_header.h"

#include "../../sampler/feed/cleanup.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

static void close_file(FILE **file)
{
    if (*file)
        fclose(*file);
}

static FILE *open_of(pid_t pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
    return fopen(path, "re");
}

/* Its effective user; ours where that cannot be read. */
static uid_t user_of(pid_t pid)
{
    CLEANUP(close_file) FILE *file = open_of(pid, "status");
    unsigned user = geteuid();
    char line[256];

    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "Uid: %*u %u", &user) == 1)
            break;
    return user;
}

/* The kernel tells the loader that rights were raised. */
static bool is_raised(pid_t pid)
{
    CLEANUP(close_file) FILE *file = open_of(pid, "auxv");
    unsigned long entry[2];

    while (file && fread(entry, sizeof(entry), 1, file) == 1 && entry[0] != AT_NULL)
        if (entry[0] == AT_SECURE)
            return entry[1] != 0;
    return false;
}

/* False where the environment cannot be read, too. */
static bool lacks_preload(pid_t pid)
{
    static const char name[] = "LD_PRELOAD=";
    CLEANUP(close_file) FILE *file = open_of(pid, "environ");
    char *entry = NULL;
    size_t room = 0;
    bool found = false;
    bool is_read = file && fgetc(file) != EOF;

    if (is_read)
        rewind(file);
    while (is_read && !found && getdelim(&entry, &room, '\0', file) > 0)
        found = !strncmp(entry, name, strlen(name)) && strstr(entry, "isoscope");
    free(entry);
    return file && !found && (is_read || feof(file));
}

/* A start needs so many at once: socket, feed and what comes back. A forked child's goes up to the hard
 * limit. */
enum { DESCRIPTORS_MIN = 3 };

/* False where that cannot be seen: those of a process that ends are root's alone. */
static bool lacks_descriptors(pid_t pid, bool forked)
{
    CLEANUP(close_file) FILE *file = open_of(pid, "limits");
    const char *format = forked ? "Max open files %*lu %lu" : "Max open files %lu";
    unsigned long limit = ULONG_MAX;
    char line[256], path[64];
    struct stat one;
    unsigned left = 0;

    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, format, &limit) == 1)
            break;
    for (unsigned long i = 0; i < limit && left < DESCRIPTORS_MIN; i++) {
        snprintf(path, sizeof(path), "/proc/%d/fd/%lu", pid, i);
        if (lstat(path, &one) == 0)
            continue;
        if (errno != ENOENT)
            return false;
        left++;
    }
    return limit != ULONG_MAX && left < DESCRIPTORS_MIN;
}

/* Where another file, or none, is at that path for it. */
static bool is_hidden(pid_t pid, const char *path)
{
    char seen[PATH_MAX + 32];
    struct stat ours, its;

    snprintf(seen, sizeof(seen), "/proc/%d/root", pid);
    if (stat(seen, &its) < 0 || stat(path, &ours) < 0)
        return false; /* it may not be looked at, or it is we who end */
    snprintf(seen, sizeof(seen), "/proc/%d/root%s", pid, path);
    return stat(seen, &its) < 0 || its.st_ino != ours.st_ino || its.st_dev != ours.st_dev;
}

/* Its tools: /usr/libexec/valgrind/memcheck-amd64-linux. Others' programs may lie in a folder of
 * that name too. */
static bool is_valgrind(const char *exe)
{
    const char *name = strrchr(exe, '/');
    const char *system = name ? strrchr(name, '-') : NULL;

    return system && !strcmp(system, "-linux") && name - exe >= 9 &&
           !strncmp(name - 9, "/valgrind", 9);
}

/* A program started by the loader's own name (ld.so PROGRAM): that one preloads. */
static bool is_loader(const char *exe)
{
    const char *name = strrchr(exe, '/');

    return name && (!strncmp(name, "/ld-linux", 9) || !strncmp(name, "/ld-2.", 6));
}

static enum unsampled_reason of_file(pid_t pid)
{
    struct elf_header elf;
    char path[32], exe[PATH_MAX];
    ssize_t length;

    snprintf(path, sizeof(path), "/proc/%d/exe", pid);
    length = readlink(path, exe, sizeof(exe) - 1);
    exe[length > 0 ? length : 0] = '\0';
    if (is_valgrind(exe))
        return UNSAMPLED_VALGRIND;
    if (is_loader(exe))
        return UNSAMPLED_NONE;
    if (elf_header_read(&elf, path) < 0 || elf.broken)
        return UNSAMPLED_NONE;
    if (!elf_header_is_native(&elf))
        return UNSAMPLED_FOREIGN;
    if (!elf.dynamic_loader)
        return UNSAMPLED_STATIC;
    if (elf.musl)
        return UNSAMPLED_MUSL;
    return elf.go_alone ? UNSAMPLED_GO_ALONE : UNSAMPLED_NONE;
}

enum unsampled_reason why_unsampled(pid_t pid, const char *feed_path)
{
    uid_t user = user_of(pid);
    enum unsampled_reason reason = of_file(pid);

    if (reason != UNSAMPLED_NONE)
        return reason;
    if (user != geteuid() && user != 0)
        return UNSAMPLED_OTHER_USER;
    if (user != geteuid() || is_raised(pid))
        return UNSAMPLED_RAISED;
    if (is_hidden(pid, feed_path))
        return UNSAMPLED_HIDDEN;
    if (lacks_preload(pid))
        return UNSAMPLED_CLEARED;
    return lacks_descriptors(pid, false) ? UNSAMPLED_DESCRIPTORS : UNSAMPLED_NONE;
}

enum unsampled_reason why_fork_unsampled(pid_t pid)
{
    return lacks_descriptors(pid, true) ? UNSAMPLED_DESCRIPTORS : UNSAMPLED_NONE;
}

const char *unsampled_text(enum unsampled_reason reason)
{
#define TEXT(name, text) [UNSAMPLED_##name] = text,
    static const char *const texts[] = { UNSAMPLED_REASONS(TEXT) };
#undef TEXT

    return texts[reason];
}
