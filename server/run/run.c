#include "run.h"

#include "../console/log_line.h"
#include "../console/status.h"
#include "../feeds/elf_header.h"
#include "../service/link.h"
#include "../service/recording.h"
#include "../service/serve.h"
#include "../service/service_info.h"
#include "capture_output.h"
#include "environment.h"
#include "options.h"
#include "paths.h"
#include "run_dir.h"
#include "supervisor.h"
#include "target.h"

#include "../../sampler/feed/cleanup.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/profile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ERROR_BYTES = 512,
    LEAVE_MS_MAX =
        10000, /* so long a service that was asked to end may take; it needs two seconds */
};

extern char **environ;

struct run {
    const struct run_options *options;
    const struct inherited *inherited;
    struct supervisor *supervisor;
    struct run_dir *dir;
    struct capture_output *output; /* NULL: it is not captured */
    int link;                      /* to the service; -1: closed */
    pid_t service;                 /* 0: not started, or ended */
    bool ready;                    /* the service was, once */
    bool ended;
    int wait_status;  /* of the program, when ended */
    bool stalled;     /* a loop did, for longer than it may: the service says so by its status */
    int asked_by;     /* the signal that somebody wanted us to end by; 0: nobody */
    int64_t leave_by; /* then: when the service is not waited for any more */
};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static void finish_output(struct run *run)
{
    capture_output_finish(run->output);
    if (run->service && capture_output_left_out(run->output))
        log_line("%llu bytes of output are not in the clients' history: they read too slowly",
                 (unsigned long long)capture_output_left_out(run->output));
}

static void program_ended(void *context, const struct profile_exit *end)
{
    struct run *run = context;
    const struct link_message message = { .word = LINK_ENDED, .exit = *end };

    run->ended = true;
    run->wait_status = end->wait_status;
    if (run->output)
        finish_output(run);
    if (run->service)
        link_tell(run->link, &message);
}

static void say_service_failed(const struct run *run, int wait_status)
{
    const char *then = run->ended
                           ? "the program had already ended"
                           : "the program continues without sampling, and isoscope waits for it";

    if (WIFSIGNALED(wait_status))
        log_line("isoscope's service failed, not the program: it was ended by signal %d (%s); %s",
                 WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)), then);
    else
        log_line("isoscope's service failed, not the program: it ended with status %d; %s",
                 WEXITSTATUS(wait_status), then);
}

/* Its folder stays until the program has ended: what that starts may look for the library there. */
static void service_ended(void *context, int wait_status)
{
    struct run *run = context;
    bool needed = run->ready && run->link >= 0 && !run->ended;
    run->stalled =
        run->ended && WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == STATUS_STALLED;
    bool as_it_should =
        WIFEXITED(wait_status) && !needed && (!run->ended || !wait_status || run->stalled);

    run->service = 0;
    if (as_it_should) /* one that never was ready has said why */
        return;
    if (run->ready)
        say_service_failed(run, wait_status);
    else if (!run->asked_by)
        log_line("isoscope's service failed: it was ended by signal %d (%s); the program was not "
                 "started",
                 WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
    if (run->ready && run->options->serve.host.socket)
        unlink(run->options->serve.host.socket);
}

static void asked_to_end(void *context, int number)
{
    struct run *run = context;
    const struct link_message message = { .word = LINK_LEAVE };

    if (run->asked_by)
        return;
    run->asked_by = number;
    run->leave_by = now_ms() + LEAVE_MS_MAX;
    if (run->ready)
        link_tell(run->link, &message);
}

static int prepare(struct run *run)
{
    static const struct supervisor_events events = { program_ended, service_ended, asked_to_end };
    char problem[ERROR_BYTES];

    /* Before the service's threads are there: they inherit the blocked signals. */
    if (supervisor_new(&run->supervisor, run->inherited, &events, run) < 0) {
        log_line("cannot wait for signals: %s", strerror(errno));
        return -ISOSCOPE_SYSTEM;
    }
    if (run_dir_new(&run->dir, problem, sizeof(problem)) < 0) {
        log_line(
            "cannot create a private folder: %s; set $XDG_RUNTIME_DIR or $TMPDIR to another place",
            problem);
        return -ISOSCOPE_SYSTEM;
    }
    if (run->options->capture_output && capture_output_new(&run->output) < 0) {
        log_line("cannot capture the program's output: %s", strerror(errno));
        return -ISOSCOPE_SYSTEM;
    }
    return 0;
}

/* In the service's process: gives up what is isoscope's. */
static int become_service(struct run *run, int link)
{
    char feed_path[PATH_MAX];
    struct serve_plan plan = {
        .options = &run->options->serve,
        .program = run->options->program[0],
        .feed_path = feed_path,
        .link = link,
        .output = run->output ? capture_output_take_hearer(run->output) : -1,
    };

    snprintf(feed_path, sizeof(feed_path), "%s", run_dir_socket(run->dir));
    close(run->link);
    capture_output_free(run->output);
    run_dir_leave(run->dir);
    supervisor_free(run->supervisor);
    return serve(&plan);
}

/* Returns twice, as fork does: 0 in the service's process. -1 on failure. */
static pid_t start_service(struct run *run, int *status)
{
    int ends[2];

    if (link_new(ends) < 0) {
        log_line("cannot start the service: %s", strerror(errno));
        return -1;
    }
    run->link = ends[0];

    pid_t pid = fork();
    if (pid == 0) {
        *status = become_service(run, ends[1]);
        return 0;
    }
    close(ends[1]);
    if (pid < 0) {
        log_line("cannot start the service: %s", strerror(errno));
        return -1;
    }
    if (run->output)
        close(capture_output_take_hearer(run->output));
    run->service = pid;
    supervisor_adopt_service(run->supervisor, pid);
    return pid;
}

/* 0 when it serves. What went wrong has been said. */
static int await_service(struct run *run)
{
    struct link_message message;

    while (run->service && !run->asked_by)
        if (supervisor_step(run->supervisor, run->link, -1)) {
            run->ready = link_hear(run->link, &message) && message.word == LINK_READY;
            if (run->ready)
                return 0;
            break;
        }
    return -ISOSCOPE_SYSTEM;
}

/* They lie beside the library, if they were installed. */
static const char *collectors_beside(char *library)
{
    char *slash = strrchr(library, '/'), path[PATH_MAX];

    if (!slash)
        return NULL;
    *slash = '\0';
    snprintf(path, sizeof(path), "%s/libisoscope_itt.so", library);
    return access(path, R_OK) == 0 ? library : NULL;
}

/* What stands beside ours, where it is wanted; path: room for its name. */
static int name_companion(struct run *run, int companion, const char *folder, char path[PATH_MAX],
                          const char **out)
{
    static const char *const names[ENVIRONMENT_COMPANIONS] = {
        [ENVIRONMENT_ALLOC] = "alloc", [ENVIRONMENT_LOCK] = "lock"
    };

    snprintf(path, PATH_MAX, "%s/libisoscope_%s.so", folder, names[companion]);
    if (access(path, R_OK) < 0) {
        log_line("--%s: cannot read %s: %s", names[companion], path, strerror(errno));
        return -ISOSCOPE_NOT_FOUND;
    }
    if (run_dir_companion(run->dir, companion, path, out) == 0)
        return 0;
    log_line("cannot name %s for LD_PRELOAD: %s", path, strerror(errno));
    return -ISOSCOPE_SYSTEM;
}

static int make_environment(struct environment **out, struct run *run)
{
    const struct feed_settings *settings = &run->options->serve.host.profile.settings;
    CLEANUP(paths_freep) char *library = NULL;
    CLEANUP(paths_freep) char *folder = NULL;
    const uint32_t wanted[ENVIRONMENT_COMPANIONS] = {
        [ENVIRONMENT_ALLOC] = settings->allocation_bytes, [ENVIRONMENT_LOCK] = settings->lock_us
    };
    const char *preload, *companions[ENVIRONMENT_COMPANIONS] = { NULL };
    char paths[ENVIRONMENT_COMPANIONS][PATH_MAX];
    int error = 0;

    if (paths_library(&library) < 0)
        return -ISOSCOPE_NOT_FOUND;
    folder = strdup(library);
    if (run_dir_library(run->dir, library, &preload) < 0) {
        log_line("cannot name %s for LD_PRELOAD: %s", library, strerror(errno));
        return -ISOSCOPE_SYSTEM;
    }
    const char *collectors = folder ? collectors_beside(folder) : NULL;
    for (int i = 0; folder && i < ENVIRONMENT_COMPANIONS && !error; i++)
        if (wanted[i])
            error = name_companion(run, i, folder, paths[i], &companions[i]);
    if (error)
        return error;
    const struct environment_feed feed = {
        .library = preload,
        .companions = { companions[ENVIRONMENT_ALLOC], companions[ENVIRONMENT_LOCK] },
        .allocation_bytes = settings->allocation_bytes,
        .lock_us = settings->lock_us,
        .faults = settings->faults,
        .socket = run_dir_socket(run->dir),
        .period_us = settings->period_us,
        .timer = run->options->timer,
        .enabled = settings->enabled,
        .watch_loops = run->options->serve.host.stalls.watch,
        .collectors = collectors,
        .runtime_options = run->options->runtime_options,
    };
    return environment_new(out, environ, &feed);
}

static void tell_started(struct run *run)
{
    const struct link_message message = { .word = LINK_STARTED,
                                          .exit.pid = supervisor_program(run->supervisor) };

    link_tell(run->link, &message);
}

/* "No such file" is also what exec says of one whose loader is missing. */
static void say_not_executed(const struct target *target, int problem)
{
    struct elf_header elf;

    if (problem == ENOENT && target->binary && elf_header_read(&elf, target->binary) == 0 &&
        elf.loader[0] && access(elf.loader, F_OK) < 0)
        log_line("%s needs the loader %s: %s", target->binary, elf.loader, strerror(errno));
    else
        log_line("%s: %s", target->path, strerror(problem));
}

/* 0, or isoscope's own exit status. */
static int start_program(struct run *run, const struct target *target,
                         const struct environment *environment)
{
    const struct child_plan plan = {
        .path = target->path,
        .arguments = run->options->program,
        .environment = environment_list(environment),
        .inherited = run->inherited,
        .output = run->output ? capture_output_ends(run->output) : NULL,
    };
    int problem;

    if (supervisor_start(run->supervisor, &plan, &problem) < 0) {
        if (problem < 0) {
            log_line("cannot start a process for %s: %s", target->path, strerror(-problem));
            return STATUS_FAILED;
        }
        say_not_executed(target, problem);
        return problem == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
    }
    tell_started(run);
    if (run->output && capture_output_begin(run->output) < 0) {
        log_line("cannot copy the program's output: %s", strerror(errno));
        return STATUS_FAILED;
    }
    return 0;
}

/* 0, or isoscope's own exit status. */
static int start(struct run *run, const struct target *target)
{
    CLEANUP(environment_freep) struct environment *environment = NULL;

    if (await_service(run) < 0 || make_environment(&environment, run) < 0)
        return STATUS_FAILED;
    return start_program(run, target, environment);
}

/* A service that hangs holds nobody: who asks it to end gets rid of it. */
static void wait_for_service(struct run *run)
{
    int64_t left = run->leave_by - now_ms();

    supervisor_step(run->supervisor, -1, !run->asked_by ? -1 : left > 0 ? (int)left : 0);
    if (run->service && run->asked_by && now_ms() >= run->leave_by) {
        log_line("the service does not stop; killing it");
        kill(run->service, SIGKILL);
        run->leave_by = now_ms() + LEAVE_MS_MAX;
    }
}

static void supervise(struct run *run)
{
    while (!run->ended)
        supervisor_step(run->supervisor, -1, -1);
    while (run->service)
        wait_for_service(run);
}

/* There is no program: what the service does is of no use. */
static void end_service(struct run *run)
{
    close(run->link);
    run->link = -1;
    if (run->service && run->asked_by && !run->ready)
        kill(run->service, SIGKILL); /* it may hang in what it does for us, and nobody knows it */
    while (run->service)
        wait_for_service(run);
}

static void run_close(struct run *run)
{
    if (run->link >= 0)
        close(run->link);
    capture_output_free(run->output);
    run_dir_free(run->dir);
    supervisor_free(run->supervisor);
}

static int run_program(const struct run_options *options, const struct target *target,
                       const struct inherited *inherited)
{
    struct run run = { .options = options, .inherited = inherited, .link = -1 };
    int status = STATUS_FAILED;
    pid_t service = prepare(&run) < 0 ? -1 : start_service(&run, &status);

    if (service == 0)
        return status;
    if (service > 0)
        status = start(&run, target);
    if (status == 0)
        supervise(&run);
    else
        end_service(&run);
    run_close(&run);
    if (status && run.asked_by)
        return child_end_like(run.asked_by); /* as a wait status: killed by that signal */
    if (status)
        return status;
    return run.stalled && !run.wait_status ? STATUS_STALLED : child_end_like(run.wait_status);
}

/* Says what is wrong. */
static int find_target(struct target *out, const char *name)
{
    struct target_identity identity;
    char error[ERROR_BYTES];
    char *path = NULL;
    int status = STATUS_FAILED;

    target_identity_self(&identity);
    snprintf(error, sizeof(error), "out of memory");
    int result = target_find(&path, name, getenv("PATH"), &status, error, sizeof(error));
    if (result == 0)
        result = target_examine(out, path, &identity, &status, error, sizeof(error));
    free(path);
    if (result == 0)
        return 0;
    log_line("%s", error);
    return status;
}

int run_command(int argc, char **argv, const struct inherited *inherited)
{
    struct run_options options;
    struct target target;
    char error[ERROR_BYTES];

    if (options_parse(&options, argc, argv, error, sizeof(error)) < 0) {
        log_line("%s", error);
        log_line_plain("Try `isoscope %s --help`.", argv[0]);
        return STATUS_USAGE;
    }
    if (options.help) {
        options_help(argv[0], stdout);
        return STATUS_OK;
    }

    const char *info = options.serve.service_info;
    /* Before anything is started: a tool that waits for the file would wait for ever. */
    if (info && service_info_check(info) < 0) {
        log_line("cannot write %s: %s", info, strerror(errno));
        return STATUS_FAILED;
    }

    if (recording_check(&options.serve.recording, error, sizeof(error)) < 0) {
        log_line("%s", error);
        return STATUS_FAILED;
    }

    const char *problem =
        options.serve.host.profile.debuginfod ? profile_debuginfod_problem() : NULL;
    if (problem) {
        log_line("--debuginfod: %s", problem);
        return STATUS_FAILED;
    }

    int status = find_target(&target, options.program[0]);
    if (status != 0)
        return status;
    status = run_program(&options, &target, inherited);
    target_free(&target);
    return status;
}
