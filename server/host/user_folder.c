#include "user_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HOLD_MS_MAX = 2000, HOLD_LOOK_MS = 20 };

/* The user's own: nobody else could have made it, unless it lies in a folder of everybody's. */
int user_folder_open(const char *path, uid_t uid)
{
    struct stat info;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

    if (folder < 0)
        return -1;
    if (fstat(folder, &info) == 0 && info.st_uid == uid && !(info.st_mode & (S_IRWXG | S_IRWXO)))
        return folder;
    close(folder);
    errno = EEXIST;
    return -1;
}

int user_folder_make(const char *path, uid_t uid, gid_t gid)
{
    int problem;

    if (mkdir(path, S_IRWXU) == 0 && uid != geteuid() && chown(path, uid, gid) < 0) {
        problem = errno;
        rmdir(path);
        errno = problem;
        return -1;
    }
    return user_folder_open(path, uid);
}

int user_folder_hold(const char *path)
{
    const struct timespec pause = { .tv_nsec = HOLD_LOOK_MS * 1000000L };
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), problem;

    for (int tries = HOLD_MS_MAX / HOLD_LOOK_MS; folder >= 0; tries--) {
        if (flock(folder, LOCK_EX | LOCK_NB) == 0)
            return folder;
        problem = errno;
        if (!tries) {
            close(folder);
            errno = problem;
            return -1;
        }
        nanosleep(&pause, NULL);
    }
    return folder;
}

/* Of several that a unit asks for the first one. */
static bool from_systemd(char *out, size_t size)
{
    const char *given = getenv("STATE_DIRECTORY");
    size_t length = given && given[0] == '/' ? strcspn(given, ":") : 0;

    return length && (size_t)snprintf(out, size, "%.*s", (int)length, given) < size;
}

bool state_folder_default(char *out, size_t size)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

    if (from_systemd(out, size))
        return true;
    if (geteuid() == 0)
        return (size_t)snprintf(out, size, "/var/lib/isoscope") < size;
    if (state && state[0] == '/')
        return (size_t)snprintf(out, size, "%s/isoscope/host", state) < size;
    return home && home[0] == '/' &&
           (size_t)snprintf(out, size, "%s/.local/state/isoscope/host", home) < size;
}

/* Root's is a way to the folders of all users. */
int state_folder_make(const char *path)
{
    mode_t mode = geteuid() == 0 ? 0755 : S_IRWXU;
    char part[PATH_MAX];

    for (const char *slash = path; (slash = strchr(slash + 1, '/'));) {
        snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
        if (mkdir(part, mode) < 0 && errno != EEXIST)
            return -1;
    }
    return mkdir(path, mode) < 0 && errno != EEXIST ? -1 : 0;
}
