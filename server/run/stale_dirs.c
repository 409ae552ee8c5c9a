#include "stale_dirs.h"

#include "../../sampler/feed/layout.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { UNTOUCHED_S = 60, RANDOM_LETTERS = 6 };

static bool is_run_dir_name(const char *name)
{
    const size_t fixed = sizeof(RUN_DIR_NAME) - 1 - RANDOM_LETTERS;

    if (strlen(name) != sizeof(RUN_DIR_NAME) - 1 || strncmp(name, RUN_DIR_NAME, fixed) != 0)
        return false;
    for (const char *at = name + fixed; *at; at++)
        if (!isalnum((unsigned char)*at))
            return false;
    return true;
}

/* The set-group-ID bit comes from the folder above. */
static bool is_ours_and_old(int folder)
{
    struct stat file;

    return fstat(folder, &file) == 0 && file.st_uid == geteuid() &&
           (file.st_mode & ~S_IFMT & ~S_ISGID) == 0700 && time(NULL) - file.st_mtime > UNTOUCHED_S;
}

/* A run of an older isoscope holds no lock, but listens. */
static bool is_listening(int folder)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool listening;

    if (fd < 0)
        return true;
    snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d/" RUN_DIR_SOCKET, folder);
    listening = connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0 ||
                (errno != ECONNREFUSED && errno != ENOENT);
    close(fd);
    return listening;
}

static void remove_if_stale(int parent, const char *name)
{
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (folder < 0)
        return;
    if (is_ours_and_old(folder) && flock(folder, LOCK_EX | LOCK_NB) == 0 && !is_listening(folder)) {
        unlinkat(folder, RUN_DIR_SOCKET, 0);
        unlinkat(folder, RUN_DIR_SOCKET FEED_TABLES_SUFFIX, 0);
        unlinkat(folder, RUN_DIR_LIBRARY, 0);
        unlinkat(folder, RUN_DIR_ALLOC_LIBRARY, 0);
        unlinkat(folder, RUN_DIR_LOCK_LIBRARY, 0);
        unlinkat(parent, name, AT_REMOVEDIR);
    }
    close(folder);
}

void stale_dirs_remove(const char *parent)
{
    DIR *entries = opendir(parent);
    const struct dirent *entry;

    if (!entries)
        return;
    while ((entry = readdir(entries)))
        if (is_run_dir_name(entry->d_name))
            remove_if_stale(dirfd(entries), entry->d_name);
    closedir(entries);
}

int stale_dirs_hold(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}
