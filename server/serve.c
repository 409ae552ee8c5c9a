#include "serve.h"

#include "delay.h"
#include "feed_socket.h"
#include "heard_output.h"
#include "hub.h"
#include "leave.h"
#include "link.h"
#include "loop.h"
#include "notices.h"
#include "options.h"
#include "say.h"
#include "service_info.h"
#include "stats.h"
#include "status.h"
#include "web.h"

#include "../protocol/service.h"
#include "../sampler/include/isoscope/isoscope.h"
#include "../sampler/profile/profile.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { NOTICE_MS = 1000 };

struct serving {
    const struct run_options *options;
    int link; /* the loop's */
    struct hub hub;
    struct leave *leave;
    struct heard_output *output; /* NULL: it is not captured */
    struct delay *notice;        /* every second */
    struct timer_notices notices;
    bool ended; /* the program */
};

static void look_at_timers(void *context)
{
    struct serving *serving = context;

    notice_timers(&serving->notices, serving->hub.profile, serving->options->period_us);
    if (!serving->ended)
        delay_set(serving->notice, NOTICE_MS);
}

static void say_kept(int wait_status)
{
    if (WIFSIGNALED(wait_status))
        say("the program was ended by signal %d (%s); Ctrl-C or SIGTERM ends the service",
            WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
    else
        say("the program has ended with status %d; Ctrl-C or SIGTERM ends the service",
            WEXITSTATUS(wait_status));
}

static void program_wrote(void *context, enum service_output output, const void *bytes,
                          size_t length)
{
    struct serving *serving = context;

    service_program_wrote(serving->hub.service, output, bytes, length);
    web_poll(serving->hub.web);
}

static void program_ended(struct serving *serving, pid_t program, int wait_status)
{
    serving->ended = true;
    if (serving->output)
        heard_output_drain(serving->output);
    hub_exited(&serving->hub, program, wait_status);
    look_at_timers(serving);
    if (feed_socket_hellos(serving->hub.feed) == 0)
        notice_no_hello(serving->options->program[0]);
    notice_other_users(feed_socket_other_users(serving->hub.feed));
    if (serving->options->stats)
        stats_say(serving->hub.profile);
    if (!serving->options->keep)
        leave_begin(serving->leave, false);
    else if (!serving->options->quiet)
        say_kept(wait_status);
}

static bool link_ready(void *context)
{
    struct serving *serving = context;
    struct link_message message;
    bool heard = link_hear(serving->link, &message);

    if (heard && message.word == LINK_ENDED)
        program_ended(serving, message.pid, message.wait_status);
    else if (!heard || message.word == LINK_LEAVE)
        leave_begin(serving->leave, true);
    return heard;
}

static int open_hub(struct serving *serving, const struct serve_plan *plan)
{
    const struct run_options *run = plan->options;
    struct hub_options options = {
        .feed_path = plan->feed_path,
        .port = run->port,
        .socket = run->socket[0] ? run->socket : NULL,
        .no_token = run->no_token,
        .access = run->access,
        .rate_max = run->rate_max,
        .patience_seconds = (int)run->patience_seconds,
        .allow_dds = run->allow_dds,
        .deflate = run->deflate,
        .period_us = run->period_us,
        .depth_max = run->depth_max,
        .mode = run->mode,
        .history_bytes = (size_t)run->history_mib << 20,
        .enabled = !run->paused,
        .debuginfod = run->debuginfod,
        .no_symbols = run->no_symbols,
        .protocol_major = run->protocol_major,
        .protocol_minor = run->protocol_minor,
        .source_root = run->source_root[0] ? run->source_root : NULL,
    };

    return hub_open(&serving->hub, &options);
}

static int announce(const struct serving *serving)
{
    const char *info = serving->options->service_info;

    if (info && service_info_write(info, serving->hub.uri) < 0) {
        say("cannot write %s: %s", info, service_info_problem(errno));
        return -ISOSCOPE_SYSTEM;
    }
    /* To stderr, unlike the Dart VM: the program's stdout may be a pipe's input. */
    if (!serving->options->quiet)
        say_plain("The Dart VM service is listening on %s", serving->hub.uri);
    return 0;
}

/* Feeds are taken in by the loop only, so what the program has said is heard after this. */
static int await_start(struct serving *serving)
{
    struct link_message message = { .word = LINK_READY };

    link_tell(serving->link, &message);
    if (!link_hear(serving->link, &message) || message.word != LINK_STARTED)
        return -ISOSCOPE_NOT_FOUND; /* isoscope has said why */
    profile_await_exit(serving->hub.profile, message.pid);
    return 0;
}

static int watch(struct serving *serving, int output)
{
    static const struct watch_events events = { .ready = link_ready };
    struct loop *loop = serving->hub.loop;

    if ((output >= 0 &&
         heard_output_new(&serving->output, output, loop, program_wrote, serving) < 0) ||
        loop_watch(loop, NULL, serving->link, &events, serving) < 0 ||
        leave_new(&serving->leave, loop, serving->hub.web) < 0 ||
        delay_new(&serving->notice, loop, look_at_timers, serving) < 0) {
        say("cannot watch the program: %s", strerror(errno));
        return -ISOSCOPE_SYSTEM;
    }
    delay_set(serving->notice, NOTICE_MS);
    return 0;
}

static int run_loop(struct serving *serving)
{
    while (!leave_done(serving->leave))
        if (loop_step(serving->hub.loop) < 0) {
            say("the service's loop failed: %s", strerror(errno));
            return STATUS_FAILED;
        }
    return STATUS_OK;
}

static void close_all(struct serving *serving)
{
    hub_close(&serving->hub);
    heard_output_free(serving->output);
    delay_free(serving->notice);
    leave_free(serving->leave);
}

int serve(const struct serve_plan *plan)
{
    struct serving serving = { .options = plan->options, .link = plan->link };
    int status = STATUS_FAILED;

    prctl(PR_SET_NAME, SERVE_NAME);
    if (open_hub(&serving, plan) == 0 && watch(&serving, plan->output) == 0 &&
        announce(&serving) == 0)
        status = await_start(&serving) < 0 ? STATUS_OK : run_loop(&serving);
    close_all(&serving);
    return status;
}
