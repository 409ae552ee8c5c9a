#include "python.h"

#include "own_path.h"

#include "../console/log_line.h"
#include "../console/status.h"
#include "../run/paths.h"

#include "../../sampler/feed/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum python { PYTHON_USABLE, PYTHON_WITHOUT_MODULE, PYTHON_ABSENT };

/* A distribution's python3 has the distribution's modules; one first on $PATH often has not. */
static enum python look_at(const char *python)
{
    char *const arguments[] = { (char *)python, (char *)"-c", (char *)"import websocket", NULL };
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = -1;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return PYTHON_ABSENT;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    if (posix_spawnp(&pid, python, &actions, NULL, arguments, environ) == 0)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
    posix_spawn_file_actions_destroy(&actions);
    if (status == -1 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
        return PYTHON_ABSENT;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? PYTHON_USABLE : PYTHON_WITHOUT_MODULE;
}

static void say_no_python(const char *without_module)
{
    if (without_module)
        log_line("%s cannot `import websocket`: install Debian's python3-websocket, or set "
                 "ISOSCOPE_PYTHON to another interpreter",
                 without_module);
    else
        log_line("python3 not found: install Debian's python3-websocket, or set ISOSCOPE_PYTHON to "
                 "an interpreter");
}

/* NULL: what is missing has been said. */
static const char *find_python(void)
{
    const char *const candidates[] = { getenv("ISOSCOPE_PYTHON"), "/usr/bin/python3", "python3" };
    const char *without_module = NULL;

    for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++) {
        const char *python = candidates[i] && candidates[i][0] ? candidates[i] : NULL;
        enum python found = python ? look_at(python) : PYTHON_ABSENT;

        if (found == PYTHON_USABLE)
            return python;
        if (found == PYTHON_WITHOUT_MODULE && !without_module)
            without_module = python;
    }
    say_no_python(without_module);
    return NULL;
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
    if (!python)
        return STATUS_FAILED;
    while (arguments[count])
        count++;

    char **all = calloc(count + 4, sizeof(*all));
    if (!all || set_python_path(package) < 0) {
        free(all);
        log_line("out of memory");
        return STATUS_FAILED;
    }
    own_path_tell();
    all[0] = (char *)python;
    all[1] = (char *)"-m";
    all[2] = (char *)"isoscope";
    memcpy(all + 3, arguments, count * sizeof(*all));
    execvp(python, all);
    log_line("%s: %s", python, strerror(errno));
    free(all);
    return STATUS_FAILED;
}
