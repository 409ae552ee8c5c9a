#include "room_process.h"

#include "../console/log_line.h"
#include "../console/status.h"
#include "room_link.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORDS_MAX = 256 };

extern char **environ;

/* Of the host's environment nothing may reach a user but what says how to read and to write. */
static void keep_environment(const struct passwd *user)
{
    static const char *const kept[] = { "PATH", "LANG", "LC_ALL", "TZ", "DEBUGINFOD_URLS" };
    enum { COUNT = sizeof(kept) / sizeof(kept[0]) };
    char *values[COUNT];

    for (size_t i = 0; i < COUNT; i++) {
        const char *value = getenv(kept[i]);

        values[i] = value ? strdup(value) : NULL;
    }
    clearenv();
    for (size_t i = 0; i < COUNT; i++)
        if (values[i])
            setenv(kept[i], values[i], 1);
    if (user)
        setenv("HOME", user->pw_dir, 1);
}

static bool become(const struct room_owner *owner)
{
    const struct passwd *user = getpwuid(owner->uid);
    gid_t gid = user ? user->pw_gid : owner->gid;

    if (owner->uid == geteuid())
        return true;
    keep_environment(user);
    return (user ? initgroups(user->pw_name, gid) : setgroups(0, NULL)) == 0 &&
           setresgid(gid, gid, gid) == 0 && setresuid(owner->uid, owner->uid, owner->uid) == 0 &&
           prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

static _Noreturn void run(const struct room_owner *owner, int link, char *const *words)
{
    char *all[WORDS_MAX + 3] = { (char *)"isoscope", (char *)ROOM_COMMAND };
    sigset_t none;
    int self, high;

    for (size_t i = 0; words[i] && i < WORDS_MAX; i++)
        all[i + 2] = words[i];
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* Opened before: the file may lie where the user has no way to. */
    self = open("/proc/self/exe", O_PATH | O_CLOEXEC);
    high = fcntl(link, F_DUPFD_CLOEXEC, ROOM_LINK_FD + 2);
    self = fcntl(self, F_DUPFD_CLOEXEC, ROOM_LINK_FD + 2);
    if (dup2(high, ROOM_LINK_FD) < 0 || dup3(self, ROOM_LINK_FD + 1, O_CLOEXEC) < 0) {
        log_line("cannot pass the link on: %s", strerror(errno));
        _exit(STATUS_FAILED);
    }
    self = ROOM_LINK_FD + 1;
    syscall(SYS_close_range, ROOM_LINK_FD + 2, ~0u, 0);
    if (!become(owner)) {
        log_line("cannot become user %u: %s", (unsigned)owner->uid, strerror(errno));
        _exit(STATUS_FAILED);
    }
    syscall(SYS_execveat, self, "", all, environ, AT_EMPTY_PATH);
    log_line("cannot start as user %u: %s", (unsigned)owner->uid, strerror(errno));
    _exit(STATUS_FAILED);
}

pid_t room_process_start(const struct room_owner *owner, int link, char *const *words)
{
    pid_t process = fork();

    if (process == 0)
        run(owner, link, words);
    return process;
}
