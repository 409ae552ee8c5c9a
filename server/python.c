#include "python.h"

#include "paths.h"
#include "say.h"
#include "status.h"

#include "../sampler/feed/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* A distribution's python3 has the distribution's modules; one first on $PATH often has not. */
static bool has_modules(const char *python)
{
    char *const arguments[] = { (char *)python, (char *)"-c", (char *)"import websocket", NULL };
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = -1;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    if (posix_spawnp(&pid, python, &actions, NULL, arguments, environ) == 0)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
    posix_spawn_file_actions_destroy(&actions);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static const char *find_python(void)
{
    const char *const candidates[] = { getenv("ISOSCOPE_PYTHON"), "/usr/bin/python3", "python3" };

    for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++)
        if (candidates[i] && candidates[i][0] && has_modules(candidates[i]))
            return candidates[i];
    return NULL;
}

/* The client asks it for names. */
static void set_command_path(void)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (length <= 0)
        return;
    path[length] = '\0';
    setenv("ISOSCOPE_COMMAND", path, 0);
}

/* Our package first, then what the user has set. */
static int set_python_path(const char *package)
{
    const char *before = getenv("PYTHONPATH");
    char *value = NULL;

    if (asprintf(&value, "%s%s%s", package, before && before[0] ? ":" : "", before ? before : "") <
        0)
        return -1;

    int status = setenv("PYTHONPATH", value, 1);
    free(value);
    return status;
}

int python_command(char **arguments)
{
    CLEANUP(paths_freep) char *package = NULL;
    size_t count = 0;

    if (paths_python(&package) < 0)
        return STATUS_FAILED;

    const char *python = find_python();
    if (!python) {
        say("no python3 that can `import websocket`: install Debian's python3-websocket, or name "
            "another interpreter in ISOSCOPE_PYTHON");
        return STATUS_FAILED;
    }
    while (arguments[count])
        count++;

    char **all = calloc(count + 4, sizeof(*all));
    if (!all || set_python_path(package) < 0) {
        free(all);
        say("out of memory");
        return STATUS_FAILED;
    }
    set_command_path();
    all[0] = (char *)python;
    all[1] = (char *)"-m";
    all[2] = (char *)"isoscope";
    memcpy(all + 3, arguments, count * sizeof(*all));
    execvp(python, all);
    say("%s: %s", python, strerror(errno));
    free(all);
    return STATUS_FAILED;
}
