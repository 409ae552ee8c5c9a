#include "run.h"

#include "capture_output.h"
#include "environment.h"
#include "link.h"
#include "options.h"
#include "paths.h"
#include "run_dir.h"
#include "say.h"
#include "serve.h"
#include "service_info.h"
#include "status.h"
#include "supervisor.h"
#include "target.h"

#include "../sampler/feed/cleanup.h"
#include "../sampler/include/isoscope/isoscope.h"
#include "../sampler/profile/profile.h"

#include <errno.h>
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
        say("%llu bytes of output were too many for the clients, and are missing in their history",
            (unsigned long long)capture_output_left_out(run->output));
}

static void program_ended(void *context, pid_t program, int wait_status)
{
    struct run *run = context;
    const struct link_message message = { LINK_ENDED, program, wait_status };

    run->ended = true;
    run->wait_status = wait_status;
    if (run->output)
        finish_output(run);
    if (run->service)
        link_tell(run->link, &message);
}

static void say_service_failed(const struct run *run, int wait_status)
{
    const char *then = run->ended ? "the program had ended before"
                                  : "the program runs on unprofiled, and isoscope waits for it";

    if (WIFSIGNALED(wait_status))
        say("the service itself failed, not the program: signal %d (%s) ended it; %s",
            WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)), then);
    else
        say("the service itself failed, not the program: it ended with status %d; %s",
            WEXITSTATUS(wait_status), then);
}

/* Its folder stays until the program has ended: what that starts may look for the library there. */
static void service_ended(void *context, int wait_status)
{
    struct run *run = context;
    bool needed = run->ready && run->link >= 0 && !run->ended;
    bool as_it_should = WIFEXITED(wait_status) && !needed && (!run->ended || !wait_status);

    run->service = 0;
    if (as_it_should) /* one that never was ready has said why */
        return;
    if (run->ready)
        say_service_failed(run, wait_status);
    else if (!run->asked_by)
        say("the service itself failed: signal %d (%s) ended it; the program was not started",
            WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
    if (run->ready && run->options->socket[0])
        unlink(run->options->socket);
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

    /* Before the service's threads are there: they inherit the blocked signals. */
    if (supervisor_new(&run->supervisor, run->inherited, &events, run) < 0) {
        say("cannot wait for signals: %s", strerror(errno));
        return -ISOSCOPE_SYSTEM;
    }
    if (run_dir_new(&run->dir) < 0) {
        say("cannot make a private folder in $XDG_RUNTIME_DIR, $TMPDIR or /tmp: %s",
            strerror(errno));
        return -ISOSCOPE_SYSTEM;
    }
    if (run->options->capture_output && capture_output_new(&run->output) < 0) {
        say("cannot capture the program's output: %s", strerror(errno));
        return -ISOSCOPE_SYSTEM;
    }
    return 0;
}

/* In the service's process: gives up what is isoscope's. */
static int become_service(struct run *run, int link)
{
    char feed_path[PATH_MAX];
    struct serve_plan plan = {
        .options = run->options,
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
        say("cannot start the service: %s", strerror(errno));
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
        say("cannot start the service: %s", strerror(errno));
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

static int make_environment(struct environment **out, struct run *run)
{
    CLEANUP(paths_freep) char *library = NULL;
    const char *preload;

    if (paths_library(&library) < 0)
        return -ISOSCOPE_NOT_FOUND;
    if (run_dir_library(run->dir, library, &preload) < 0) {
        say("cannot name %s for LD_PRELOAD: %s", library, strerror(errno));
        return -ISOSCOPE_SYSTEM;
    }
    const struct environment_feed feed = {
        .library = preload,
        .socket = run_dir_socket(run->dir),
        .period_us = run->options->period_us,
        .timer = run->options->timer,
        .enabled = !run->options->paused,
    };
    return environment_new(out, environ, &feed);
}

static void tell_started(struct run *run)
{
    const struct link_message message = { LINK_STARTED, supervisor_program(run->supervisor), 0 };

    link_tell(run->link, &message);
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
        say("%s: %s", target->path, strerror(problem));
        return problem == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
    }
    tell_started(run);
    if (run->output && capture_output_begin(run->output) < 0) {
        say("cannot copy the program's output: %s", strerror(errno));
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
        say("the service does not end: it is killed");
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
    return status ? status : child_end_like(run.wait_status);
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
    say("%s", error);
    return status;
}

int run_command(int argc, char **argv, const struct inherited *inherited)
{
    struct run_options options;
    struct target target;
    char error[ERROR_BYTES];

    if (options_parse(&options, argc, argv, error, sizeof(error)) < 0) {
        say("%s", error);
        say_plain("Try `isoscope run --help`.");
        return STATUS_USAGE;
    }
    if (options.help) {
        fputs(options_help(), stdout);
        return STATUS_OK;
    }
    /* Before anything is started: a tool that waits for the file would wait for ever. */
    if (options.service_info && service_info_check(options.service_info) < 0) {
        say("cannot write %s: %s", options.service_info, strerror(errno));
        return STATUS_FAILED;
    }

    const char *problem = options.debuginfod ? profile_debuginfod_problem() : NULL;
    if (problem) {
        say("--debuginfod: %s", problem);
        return STATUS_FAILED;
    }

    int status = find_target(&target, options.program[0]);
    if (status != 0)
        return status;
    status = run_program(&options, &target, inherited);
    target_free(&target);
    return status;
}
