#include "run_dir.h"

#include "environment.h"
#include "stale_dirs.h"

#include "../../sampler/feed/layout.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The loader splits LD_PRELOAD at the first two and replaces words after the third ($LIB). It has
 * no way to quote them. */
#define PRELOAD_SPECIAL " :$"

enum {
    FOLDER_BYTES = 80, /* with the socket's name it must fit into a sockaddr_un: 108 bytes */
};

struct run_dir {
    int held; /* the folder, locked as long as we run; -1: it could not be */
    char folder[FOLDER_BYTES];
    char socket[FOLDER_BYTES + 16];
    char tables[FOLDER_BYTES + 32];
    char link[FOLDER_BYTES + 32];                               /* "" until it is needed */
    char companions[ENVIRONMENT_COMPANIONS][FOLDER_BYTES + 32]; /* likewise */
};

/* Why the folder cannot be made there; NULL: it was. */
static const char *make_folder(char out[FOLDER_BYTES], const char *parent, mode_t mode)
{
    if (parent[0] != '/')
        return "it is no absolute path";
    if (strpbrk(parent, PRELOAD_SPECIAL))
        return "LD_PRELOAD takes no path with a space, a colon or a dollar sign";

    int length = snprintf(out, FOLDER_BYTES, "%s/" RUN_DIR_NAME, parent);
    if (length < 0 || length >= FOLDER_BYTES)
        return "its path is too long for a socket's";
    if (!mkdtemp(out))
        return strerror(errno);
    /* A umask may have taken our own rights. */
    if (chmod(out, mode) == 0)
        return NULL;
    rmdir(out);
    return "its rights cannot be set";
}

static void add_problem(char *problem, size_t size, const char *parent, const char *why)
{
    size_t length = strlen(problem);

    snprintf(problem + length, size - length, "%s%s: %s", length ? "; " : "", parent, why);
}

/* In the first of the folders that can hold it. */
static int make(struct run_dir **out, const char *const *parents, size_t parent_count, mode_t mode,
                char *problem, size_t problem_size)
{
    struct run_dir *dir = calloc(1, sizeof(*dir));

    snprintf(problem, problem_size, "%s", dir ? "" : "out of memory");
    if (!dir)
        return -ISOSCOPE_NO_MEMORY;
    for (size_t i = 0; i < parent_count; i++) {
        const char *why =
            parents[i] && parents[i][0] ? make_folder(dir->folder, parents[i], mode) : "";

        if (why) {
            if (why[0])
                add_problem(problem, problem_size, parents[i], why);
            continue;
        }
        dir->held = stale_dirs_hold(dir->folder);
        stale_dirs_remove(parents[i]);
        snprintf(dir->socket, sizeof(dir->socket), "%s/" RUN_DIR_SOCKET, dir->folder);
        snprintf(dir->tables, sizeof(dir->tables), "%s" FEED_TABLES_SUFFIX, dir->socket);
        *out = dir;
        return 0;
    }
    free(dir);
    return -ISOSCOPE_SYSTEM;
}

int run_dir_new(struct run_dir **out, char *problem, size_t problem_size)
{
    const char *const parents[] = { getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp" };

    return make(out, parents, sizeof(parents) / sizeof(*parents), 0700, problem, problem_size);
}

int run_dir_new_for_others(struct run_dir **out, char *problem, size_t problem_size)
{
    static const char *const parents[] = { "/tmp" };

    return make(out, parents, sizeof(parents) / sizeof(*parents), 0711, problem, problem_size);
}

void run_dir_free(struct run_dir *dir)
{
    if (!dir)
        return;
    unlink(dir->socket);
    unlink(dir->tables);
    if (dir->link[0])
        unlink(dir->link);
    for (int i = 0; i < ENVIRONMENT_COMPANIONS; i++)
        if (dir->companions[i][0])
            unlink(dir->companions[i]);
    rmdir(dir->folder);
    if (dir->held >= 0)
        close(dir->held);
    free(dir);
}

void run_dir_leave(struct run_dir *dir)
{
    if (dir->held >= 0)
        close(dir->held); /* the lock stays with the other process's descriptor */
    free(dir);
}

void run_dir_freep(struct run_dir **dir)
{
    run_dir_free(*dir);
}

const char *run_dir_socket(const struct run_dir *dir)
{
    return dir->socket;
}

static int name_library(char *link, size_t size, const char *folder, const char *name,
                        const char *library, const char **out)
{
    if (!strpbrk(library, PRELOAD_SPECIAL)) {
        *out = library;
        return 0;
    }
    snprintf(link, size, "%s/%s", folder, name);
    if (symlink(library, link) < 0)
        return -ISOSCOPE_SYSTEM;
    *out = link;
    return 0;
}

int run_dir_library(struct run_dir *dir, const char *library, const char **out)
{
    return name_library(dir->link, sizeof(dir->link), dir->folder, RUN_DIR_LIBRARY, library, out);
}

int run_dir_companion(struct run_dir *dir, int companion, const char *library, const char **out)
{
    static const char *const names[ENVIRONMENT_COMPANIONS] = {
        [ENVIRONMENT_ALLOC] = RUN_DIR_ALLOC_LIBRARY,
        [ENVIRONMENT_LOCK] = RUN_DIR_LOCK_LIBRARY,
    };

    return name_library(dir->companions[companion], sizeof(dir->companions[companion]), dir->folder,
                        names[companion], library, out);
}
