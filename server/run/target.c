#include "target.h"

#include "../console/status.h"
#include "../feeds/elf_header.h"

#include "../../sampler/feed/cleanup.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Of programs that cannot have the sampler inside. */
#define FROM_OUTSIDE ", or start it and sample it from outside: `isoscope attach PID`"

enum {
    SCRIPT_DEPTH_MAX = 5,    /* the kernel's own limit for scripts that name scripts */
    SCRIPT_LINE_BYTES = 256, /* the kernel reads no more of a #! line */
};

/* Where a refusal goes: the sentence, and the status for the shell. */
struct refusal {
    int *status;
    char *text;
    size_t size;
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

__attribute__((format(printf, 3, 4))) static int refuse(const struct refusal *refusal, int status,
                                                        const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(refusal->text, refusal->size, format, arguments);
    va_end(arguments);
    *refusal->status = status;
    return status == STATUS_NOT_FOUND ? -ISOSCOPE_NOT_FOUND : -ISOSCOPE_INVALID;
}

void target_identity_self(struct target_identity *out)
{
    *out = (struct target_identity){
        .uid = getuid(),
        .euid = geteuid(),
        .gid = getgid(),
        .egid = getegid(),
        .no_new_privileges = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1,
    };
}

/* Why exec refuses what is there. */
static const char *why_forbidden(const char *path)
{
    struct stat file;
    struct statvfs mount;

    if (stat(path, &file) < 0)
        return errno == EACCES ? "permission denied for a folder in its path" : strerror(errno);
    if (!S_ISREG(file.st_mode))
        return "it is not a regular file";
    if (!(file.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)))
        return "it has no exec permission (chmod +x)";
    if (statvfs(path, &mount) == 0 && mount.f_flag & ST_NOEXEC)
        return "its file system is mounted noexec";
    return "this user has no permission to execute it";
}

/* 0, or the errno that exec would end with. */
static int executable(const char *path)
{
    struct stat file;

    if (stat(path, &file) < 0)
        return errno;
    if (S_ISDIR(file.st_mode))
        return EISDIR;
    return S_ISREG(file.st_mode) && access(path, X_OK) == 0 ? 0 : EACCES;
}

static int keep_path(char **out, const char *path)
{
    char *copy = strdup(path);

    if (!copy)
        return -ISOSCOPE_NO_MEMORY;
    *out = copy;
    return 0;
}

static int find_by_path(char **out, const char *name, const struct refusal *refusal)
{
    int problem = executable(name);

    switch (problem) {
    case 0:
        return keep_path(out, name);
    case ENOENT:
    case ENOTDIR:
        return refuse(refusal, STATUS_NOT_FOUND, "%s: no such program", name);
    case EISDIR:
        return refuse(refusal, STATUS_NOT_EXECUTABLE, "%s is a folder, not a program", name);
    case EACCES:
        return refuse(refusal, STATUS_NOT_EXECUTABLE, "cannot execute %s: %s", name,
                      why_forbidden(name));
    default:
        return refuse(refusal, STATUS_NOT_EXECUTABLE, "%s: %s", name, strerror(problem));
    }
}

/* One element of $PATH; an empty one is the current folder. False when it is too long to be one. */
static bool candidate_path(char out[PATH_MAX], const char *folder, size_t folder_length,
                           const char *name)
{
    int length = folder_length
                     ? snprintf(out, PATH_MAX, "%.*s/%s", (int)folder_length, folder, name)
                     : snprintf(out, PATH_MAX, "./%s", name);

    return length > 0 && length < PATH_MAX;
}

static int find_in_search(char **out, const char *name, const char *search,
                          const struct refusal *refusal)
{
    char path[PATH_MAX], forbidden[PATH_MAX] = "";

    for (const char *folder = search; folder;) {
        const char *end = strchrnul(folder, ':');
        if (candidate_path(path, folder, (size_t)(end - folder), name)) {
            int problem = executable(path);
            if (problem == 0)
                return keep_path(out, path);
            /* Like execvp: one that may not be executed counts only when no other is found; a
             * folder that may not be looked into holds none. */
            if (problem == EACCES && !forbidden[0] && access(path, F_OK) == 0)
                memcpy(forbidden, path, sizeof(path));
        }
        folder = *end ? end + 1 : NULL;
    }
    if (forbidden[0])
        return refuse(refusal, STATUS_NOT_EXECUTABLE, "cannot execute %s: %s", forbidden,
                      why_forbidden(forbidden));
    return refuse(refusal, STATUS_NOT_FOUND, "%s: not found in $PATH", name);
}

int target_find(char **out, const char *name, const char *search, int *status, char *error,
                size_t error_size)
{
    const struct refusal refusal = { status, error, error_size };

    if (strchr(name, '/'))
        return find_by_path(out, name, &refusal);
    return find_in_search(out, name, search ? search : "/bin:/usr/bin", &refusal);
}

/* The kernel raises rights for this file, so the loader ignores LD_PRELOAD in it. */
static const char *raised_rights(const char *path, const struct target_identity *identity)
{
    struct stat file;
    struct statvfs mount;

    if (identity->no_new_privileges || stat(path, &file) < 0 || statvfs(path, &mount) < 0 ||
        mount.f_flag & ST_NOSUID)
        return NULL;
    if (file.st_mode & S_ISUID && file.st_uid != identity->uid)
        return "set-user-ID";
    /* S_ISGID without group execution means something else (mandatory locks). */
    if (file.st_mode & S_ISGID && file.st_mode & S_IXGRP && file.st_gid != identity->gid)
        return "set-group-ID";
    /* Root has the capabilities already: the kernel does not count them as raised. */
    if (identity->uid != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
        return "a program with file capabilities";
    return NULL;
}

static int check_elf(const char *path, const struct elf_header *elf,
                     const struct target_identity *identity, const struct refusal *refusal)
{
    const char *raised = raised_rights(path, identity);

    if (elf->broken)
        return refuse(refusal, STATUS_NOT_EXECUTABLE, "%s is a broken ELF file", path);
    if (!elf_header_is_native(elf))
        return refuse(refusal, STATUS_FAILED,
                      "%s is a %d-bit program for %s; this isoscope samples %s programs", path,
                      elf->bits, elf_machine_name(elf->machine), elf_native_name());
    if (!elf->dynamic_loader)
        return refuse(refusal, STATUS_FAILED,
                      "%s is statically linked. Statically linked programs are not supported: link "
                      "it dynamically (without -static)" FROM_OUTSIDE,
                      path);
    if (elf->musl)
        return refuse(
            refusal, STATUS_FAILED,
            "%s uses musl, and isoscope's sampler needs glibc. Build it for glibc" FROM_OUTSIDE,
            path);
    if (elf->go_alone)
        return refuse(
            refusal, STATUS_FAILED,
            "%s is a Go program without cgo, which does not use libc, and isoscope's "
            "sampler needs it. Build it with cgo (CGO_ENABLED=1 and import \"C\")" FROM_OUTSIDE,
            path);
    if (raised)
        return refuse(refusal, STATUS_FAILED,
                      "%s is %s: the loader ignores LD_PRELOAD there. Run isoscope itself with the "
                      "rights that the program gets",
                      path, raised);
    return 0;
}

/* line: the file's first bytes, "#!..."; gives the interpreter's path. */
static bool script_interpreter(char out[SCRIPT_LINE_BYTES], const char *line)
{
    const char *start = line + 2 + strspn(line + 2, " \t");
    size_t length = strcspn(start, " \t\n");

    if (!length)
        return false;
    memcpy(out, start, length);
    out[length] = '\0';
    return true;
}

static int read_first_line(char out[SCRIPT_LINE_BYTES], const char *path)
{
    CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd < 0 ? -1 : pread(fd, out, SCRIPT_LINE_BYTES - 1, 0);

    out[got > 0 ? got : 0] = '\0';
    return got < 0 ? -errno : 0;
}

static int refuse_interpreter(const struct refusal *refusal, int depth, const char *path,
                              char *interpreter)
{
    int status = depth ? STATUS_NOT_EXECUTABLE : STATUS_NOT_FOUND;
    size_t last = strlen(interpreter) - 1;

    if (interpreter[last] == '\r')
        return refuse(refusal, status,
                      "%s: its first line ends with a carriage return: save it with Unix line ends",
                      path);
    if (access(interpreter, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
        return refuse(refusal, status, "%s: its interpreter %s does not exist", path, interpreter);
    return refuse(refusal, status, "%s: cannot execute its interpreter %s: %s", path, interpreter,
                  why_forbidden(interpreter));
}

/* 0: *out is a binary of ours to load, or the file may not be read (then exec alone can tell). */
static int follow(struct target *out, const char *path, int depth,
                  const struct target_identity *identity, const struct refusal *refusal)
{
    char line[SCRIPT_LINE_BYTES], interpreter[SCRIPT_LINE_BYTES];
    struct elf_header elf;

    if (depth > SCRIPT_DEPTH_MAX)
        return refuse(refusal, STATUS_NOT_EXECUTABLE, "%s: too many nested scripts", path);
    if (read_first_line(line, path) < 0)
        return keep_path(&out->binary, path);
    if (!strncmp(line, "#!", 2) && script_interpreter(interpreter, line)) {
        if (executable(interpreter) != 0)
            return refuse_interpreter(refusal, depth, path, interpreter);
        return follow(out, interpreter, depth + 1, identity, refusal);
    }
    if (elf_header_read(&elf, path) == 0) {
        int status = check_elf(path, &elf, identity, refusal);
        return status < 0 ? status : keep_path(&out->binary, path);
    }
    out->needs_shell = depth == 0;
    return out->needs_shell ? follow(out, "/bin/sh", depth + 1, identity, refusal)
                            : keep_path(&out->binary, path);
}

int target_examine(struct target *out, const char *path, const struct target_identity *identity,
                   int *status, char *error, size_t error_size)
{
    const struct refusal refusal = { status, error, error_size };
    struct target target = { 0 };
    int result = keep_path(&target.path, path);

    if (result == 0)
        result = follow(&target, path, 0, identity, &refusal);
    if (result < 0) {
        target_free(&target);
        return result;
    }
    *out = target;
    return 0;
}

void target_free(struct target *target)
{
    free(target->path);
    free(target->binary);
    *target = (struct target){ 0 };
}
