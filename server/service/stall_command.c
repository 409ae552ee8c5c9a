#include "stall_command.h"

#include "../console/log_line.h"
#include "../net/delay.h"
#include "../net/loop.h"

#include "../../sampler/feed/message.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define PREFIX "ISOSCOPE_STALL_"
#define URI    "ISOSCOPE_URI"

enum {
    FINISH_MS = 5000, /* that those which are there at the end may take together */
    VARIABLES_MAX = 12,
};

/* What one run of it is told. */
struct job {
    char *variables[VARIABLES_MAX]; /* the rest is NULL */
};

struct stall_command {
    struct loop *loop;
    const char *text, *uri;
    struct delay *late; /* due when the end has waited for long enough */
    struct job jobs[STALL_COMMANDS_MAX];
    unsigned first, count; /* those that wait, a ring */
    pid_t runs;            /* 0: none does */
    bool failure_said;
    uint64_t left_out;
};

static void job_free(struct job *job)
{
    for (int i = 0; i < VARIABLES_MAX; i++)
        free(job->variables[i]);
    *job = (struct job){ 0 };
}

__attribute__((format(printf, 4, 5))) static bool set(struct job *job, unsigned *next,
                                                      const char *name, const char *format, ...)
{
    char *value = NULL, *variable = NULL;
    va_list words;

    va_start(words, format);
    if (vasprintf(&value, format, words) < 0)
        value = NULL;
    va_end(words);
    if (!value || asprintf(&variable, "%s=%s", name, value) < 0)
        variable = NULL;
    free(value);
    if (variable)
        job->variables[(*next)++] = variable;
    return variable != NULL;
}

#define STALL_WORD(name, word, ...) word,
static const char *const levels[] = { STALL_LEVELS(STALL_WORD) };
static const char *const causes[] = { STALL_CAUSES(STALL_WORD) };
#undef STALL_WORD

static bool job_make(struct job *job, const struct stall_command *command,
                     const struct stall *stall, int32_t pid, bool end)
{
    unsigned next = 0;

    return set(job, &next, PREFIX "NUMBER", "%" PRIu64, stall->number) &&
           set(job, &next, PREFIX "LOOP", "%s", stall->name) &&
           set(job, &next, PREFIX "THREAD", "%s", stall->thread_name) &&
           set(job, &next, PREFIX "PID", "%d", pid) &&
           set(job, &next, PREFIX "TID", "%d", stall->tid) &&
           set(job, &next, PREFIX "CAUSE", "%s", causes[stall->cause]) &&
           set(job, &next, PREFIX "MS", "%" PRId64, stall->duration_ns.min / 1000000) &&
           set(job, &next, PREFIX "LEVEL", "%s", levels[stall->level]) &&
           set(job, &next, PREFIX "CULPRIT", "%s", stall->culprit.function) &&
           set(job, &next, PREFIX "CALLER", "%s", stall->caller.function) &&
           set(job, &next, PREFIX "END", "%s", end ? "1" : "") &&
           set(job, &next, URI, "%s", command->uri);
}

/* What isoscope itself was started with, but for what may be another run's. */
static bool is_told_anew(const char *entry)
{
    static const char *const names[] = { PREFIX,
                                         URI "=",
                                         FEED_ENV_SOCKET "=",
                                         FEED_ENV_PERIOD "=",
                                         FEED_ENV_TIMER "=",
                                         FEED_ENV_ENABLED "=" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strncmp(entry, names[i], strlen(names[i])))
            return true;
    return false;
}

/* NULL: no memory. The entries are borrowed. */
static char **surroundings(const struct job *job)
{
    size_t count = 0;

    while (environ[count])
        count++;

    char **list = calloc(count + VARIABLES_MAX + 1, sizeof(*list)), **next = list;
    for (int i = 0; list && i < VARIABLES_MAX; i++)
        if (job->variables[i])
            *next++ = job->variables[i];
    for (size_t i = 0; list && i < count; i++)
        if (!is_told_anew(environ[i]))
            *next++ = environ[i];
    return list;
}

/* In a group of its own, so that all of it can be ended; with the signals as a shell expects them. */
static int set_up(posix_spawnattr_t *attributes, posix_spawn_file_actions_t *files)
{
    sigset_t none, ours;

    sigemptyset(&none);
    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGXFSZ);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &ours);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                             POSIX_SPAWN_SETPGROUP);
    int problem = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    return problem ? problem
                   : posix_spawn_file_actions_adddup2(files, STDERR_FILENO, STDOUT_FILENO);
}

/* 0 or an errno. */
static int spawn(struct stall_command *command, char **environment)
{
    char *arguments[] = { (char *)"sh", (char *)"-c", (char *)command->text, NULL };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int problem;

    if ((problem = posix_spawn_file_actions_init(&files)))
        return problem;
    if ((problem = posix_spawnattr_init(&attributes)) == 0) {
        problem = set_up(&attributes, &files);
        if (!problem)
            problem =
                posix_spawn(&command->runs, "/bin/sh", &files, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    if (problem)
        command->runs = 0;
    return problem;
}

static void say_failure(struct stall_command *command, const char *how, int number)
{
    if (!command->failure_said)
        log_line("--on-stall: the command %s%d; further failures are not told", how, number);
    command->failure_said = true;
}

static void kill_all(struct stall_command *command)
{
    while (command->count > 0) {
        job_free(&command->jobs[command->first]);
        command->first = (command->first + 1) % STALL_COMMANDS_MAX;
        command->count--;
    }
    command->failure_said = true; /* its end is ours */
    if (command->runs)
        kill(-command->runs, SIGKILL);
}

static void run_next(struct stall_command *command);

static bool has_ended(void *context)
{
    struct stall_command *command = context;
    int status = 0;

    if (waitpid(command->runs, &status, WNOHANG) == 0)
        return true;
    command->runs = 0;
    if (WIFSIGNALED(status))
        say_failure(command, "was ended by signal ", WTERMSIG(status));
    else if (WEXITSTATUS(status))
        say_failure(command, "ended with status ", WEXITSTATUS(status));
    run_next(command);
    return false;
}

/* Its end is seen by a descriptor, as everything in the loop is. */
static int watch_end(struct stall_command *command)
{
    static const struct io_watch_events events = { .ready = has_ended };
    int fd = (int)syscall(SYS_pidfd_open, command->runs, 0);

    return fd < 0 ? -ISOSCOPE_SYSTEM : loop_watch(command->loop, NULL, fd, &events, command);
}

static void start_first(struct stall_command *command)
{
    struct job job = command->jobs[command->first];
    char **environment = surroundings(&job);
    int problem = environment ? spawn(command, environment) : ENOMEM;

    command->jobs[command->first] = (struct job){ 0 };
    command->first = (command->first + 1) % STALL_COMMANDS_MAX;
    command->count--;
    free(environment);
    job_free(&job);
    if (problem) {
        say_failure(command, "cannot be started: errno ", problem);
    } else if (watch_end(command) < 0) {
        say_failure(command, "cannot be waited for: errno ", errno);
        kill(-command->runs, SIGKILL);
        waitpid(command->runs, NULL, 0);
        command->runs = 0;
    }
}

static void run_next(struct stall_command *command)
{
    while (!command->runs && command->count)
        start_first(command);
}

static void took_too_long(void *context)
{
    struct stall_command *command = context;

    if (!stall_command_runs(command))
        return;
    log_line("--on-stall: the command has not ended %d s after the program; killing it",
             FINISH_MS / 1000);
    kill_all(command);
}

int stall_command_new(struct stall_command **out, struct loop *loop, const char *text,
                      const char *uri)
{
    struct stall_command *command = calloc(1, sizeof(*command));

    if (!command)
        return -ISOSCOPE_NO_MEMORY;
    command->loop = loop;
    command->text = text;
    command->uri = uri;
    int status = delay_new(&command->late, loop, took_too_long, command);
    if (status < 0)
        free(command);
    else
        *out = command;
    return status;
}

void stall_command_free(struct stall_command *command)
{
    if (!command)
        return;
    kill_all(command);
    if (command->runs)
        waitpid(command->runs, NULL, 0);
    delay_free(command->late);
    free(command);
}

void stall_command_add(struct stall_command *command, const struct stall *stall, int32_t pid,
                       bool end)
{
    struct job *job = &command->jobs[(command->first + command->count) % STALL_COMMANDS_MAX];

    if (command->count == STALL_COMMANDS_MAX) {
        command->left_out++;
        return;
    }
    if (!job_make(job, command, stall, pid, end)) {
        job_free(job);
        command->left_out++;
        return;
    }
    command->count++;
    run_next(command);
}

bool stall_command_runs(const struct stall_command *command)
{
    return command->runs || command->count;
}

void stall_command_finish(struct stall_command *command)
{
    if (command->left_out)
        log_line("--on-stall: the command was not run %" PRIu64
                 " times: it takes too long, and %d wait already",
                 command->left_out, STALL_COMMANDS_MAX);
    if (stall_command_runs(command))
        delay_set(command->late, FINISH_MS);
}

void stall_command_stop(struct stall_command *command)
{
    kill_all(command);
}
