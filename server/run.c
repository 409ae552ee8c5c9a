#include "run.h"

#include "capture_output.h"
#include "environment.h"
#include "feed_socket.h"
#include "hub.h"
#include "leave.h"
#include "loop.h"
#include "notices.h"
#include "options.h"
#include "paths.h"
#include "run_dir.h"
#include "say.h"
#include "service_info.h"
#include "stats.h"
#include "status.h"
#include "supervisor.h"
#include "target.h"
#include "web.h"
#include "delay.h"

#include "../protocol/service.h"
#include "../sampler/feed/cleanup.h"
#include "../sampler/include/isoscope/isoscope.h"
#include "../sampler/profile/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { ERROR_BYTES = 512, NOTICE_MS = 1000 };

extern char **environ;

struct run {
    const struct run_options *options;
    const struct inherited *inherited;
    struct hub hub;
    struct supervisor *supervisor;
    struct leave *leave;
    struct capture_output *output; /* NULL: it is not captured */
    struct delay *notice;          /* looks every second until the timer's kind is known */
    bool timer_known;
    bool ended;
    int wait_status; /* of the program, when ended */
};

static void look_at_timer(void *context)
{
    struct run *run = context;

    if (run->timer_known)
        return;
    run->timer_known = notice_timer(run->hub.profile, run->options->period_us);
    if (!run->timer_known && !run->ended)
        delay_set(run->notice, NOTICE_MS);
}

static void say_kept(const struct run *run)
{
    if (WIFSIGNALED(run->wait_status))
        say("the program was ended by signal %d (%s); Ctrl-C ends the service",
            WTERMSIG(run->wait_status), strsignal(WTERMSIG(run->wait_status)));
    else
        say("the program has ended with status %d; Ctrl-C ends the service",
            WEXITSTATUS(run->wait_status));
}

static void program_wrote(void *context, enum service_output output, const void *bytes,
                          size_t length)
{
    struct run *run = context;

    service_program_wrote(run->hub.service, output, bytes, length);
    web_poll(run->hub.web);
}

static void finish_output(struct run *run)
{
    capture_output_finish(run->output);
    if (capture_output_left_out(run->output))
        say("%llu bytes of output were too many for the clients, and are missing in their history",
            (unsigned long long)capture_output_left_out(run->output));
}

static void program_ended(void *context, pid_t program, int wait_status)
{
    struct run *run = context;

    run->ended = true;
    run->wait_status = wait_status;
    if (run->output)
        finish_output(run);
    hub_exited(&run->hub, program, wait_status);
    look_at_timer(run);
    if (feed_socket_hellos(run->hub.feed) == 0)
        notice_no_hello(run->options->program[0]);
    if (run->options->stats)
        stats_say(run->hub.profile);
    if (!run->options->keep)
        leave_begin(run->leave, false);
    else if (!run->options->quiet)
        say_kept(run);
}

static void asked_to_end(void *context)
{
    struct run *run = context;

    leave_begin(run->leave, true);
}

static int prepare(struct run *run)
{
    static const struct supervisor_events events = { program_ended, asked_to_end };
    const struct hub_options options = {
        .port = run->options->port,
        .socket = run->options->socket[0] ? run->options->socket : NULL,
        .no_token = run->options->no_token,
        .access = run->options->access,
        .rate_max = run->options->rate_max,
        .patience_seconds = (int)run->options->patience_seconds,
        .allow_dds = run->options->allow_dds,
        .deflate = run->options->deflate,
        .period_us = run->options->period_us,
        .depth_max = run->options->depth_max,
        .mode = run->options->mode,
        .enabled = !run->options->paused,
        .debuginfod = run->options->debuginfod,
        .no_symbols = run->options->no_symbols,
        .protocol_major = run->options->protocol_major,
        .protocol_minor = run->options->protocol_minor,
        .source_root = run->options->source_root[0] ? run->options->source_root : NULL,
    };

    /* Before the profile's threads are there: they inherit the blocked signals. */
    if (supervisor_new(&run->supervisor, run->inherited) < 0 || hub_open(&run->hub, &options) < 0)
        return -ISOSCOPE_SYSTEM;
    if (supervisor_watch(run->supervisor, run->hub.loop, &events, run) < 0 ||
        leave_new(&run->leave, run->hub.loop, run->hub.web) < 0 ||
        delay_new(&run->notice, run->hub.loop, look_at_timer, run) < 0 ||
        (run->options->capture_output &&
         capture_output_new(&run->output, run->hub.loop, program_wrote, run) < 0)) {
        say("cannot watch the program: %s", strerror(errno));
        return -ISOSCOPE_SYSTEM;
    }
    return 0;
}

static int announce(const struct run *run)
{
    const char *info = run->options->service_info;

    if (info && service_info_write(info, run->hub.uri) < 0) {
        say("cannot write %s: %s", info, strerror(errno));
        return -ISOSCOPE_SYSTEM;
    }
    /* To stderr, unlike the Dart VM: the program's stdout may be a pipe's input. */
    if (!run->options->quiet)
        say_plain("The Dart VM service is listening on %s", run->hub.uri);
    return 0;
}

static int make_environment(struct environment **out, struct run *run)
{
    CLEANUP(paths_freep) char *library = NULL;
    const char *preload;

    if (paths_library(&library) < 0) {
        say("the sampler is missing: it belongs to %s, seen from the folder of this command",
            paths_library_place());
        return -ISOSCOPE_NOT_FOUND;
    }
    if (run_dir_library(run->hub.dir, library, &preload) < 0) {
        say("cannot name %s for LD_PRELOAD: %s", library, strerror(errno));
        return -ISOSCOPE_SYSTEM;
    }

    const struct environment_feed feed = {
        .library = preload,
        .socket = run_dir_socket(run->hub.dir),
        .secret = run->hub.secret,
        .period_us = run->options->period_us,
        .timer = run->options->timer,
        .enabled = !run->options->paused,
    };
    return environment_new(out, environ, &feed);
}

/* 0, or isoscope's own exit status. */
static int start_program(struct run *run, const struct target *target)
{
    CLEANUP(environment_freep) struct environment *environment = NULL;
    int problem;

    if (make_environment(&environment, run) < 0 || announce(run) < 0)
        return STATUS_FAILED;

    const struct child_plan plan = {
        .path = target->path,
        .arguments = run->options->program,
        .environment = environment_list(environment),
        .inherited = run->inherited,
        .output = run->output ? capture_output_ends(run->output) : NULL,
    };
    if (supervisor_start(run->supervisor, &plan, &problem) < 0) {
        say("%s: %s", target->path, strerror(problem));
        return problem == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
    }
    /* Feeds are taken in by the loop only, so it has not said hello yet. */
    profile_await_exit(run->hub.profile, supervisor_program(run->supervisor));
    if (run->output && capture_output_begin(run->output) < 0) {
        say("cannot copy the program's output: %s", strerror(errno));
        return STATUS_FAILED;
    }
    delay_set(run->notice, NOTICE_MS);
    return 0;
}

static void serve(struct run *run)
{
    while (!leave_done(run->leave))
        if (loop_step(run->hub.loop) < 0) {
            /* The program must not notice: it keeps its caller and its exit status. */
            say("the service has failed: %s", strerror(errno));
            supervisor_wait(run->supervisor);
            return;
        }
}

static void run_close(struct run *run)
{
    hub_close(&run->hub);
    capture_output_free(run->output);
    delay_free(run->notice);
    leave_free(run->leave);
    supervisor_free(run->supervisor);
}

static int run_program(const struct run_options *options, const struct target *target,
                       const struct inherited *inherited)
{
    struct run run = { .options = options, .inherited = inherited };
    int status = prepare(&run) < 0 ? STATUS_FAILED : start_program(&run, target);

    if (status == 0)
        serve(&run);
    run_close(&run);
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
