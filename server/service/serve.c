#include "serve.h"

#include "../console/log_line.h"
#include "../console/status.h"
#include "../feeds/feed_socket.h"
#include "../net/delay.h"
#include "../net/loop.h"
#include "../net/web.h"
#include "../push/push.h"
#include "heard_output.h"
#include "service_host.h"
#include "shutdown.h"
#include "link.h"
#include "notices.h"
#include "service_info.h"
#include "stall_settle.h"
#include "stall_watch.h"
#include "stats.h"

#include "../../protocol/service.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/profile.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { NOTICE_MS = 1000 };

struct serving {
    const struct serve_options *options;
    const char *program;
    int link; /* the loop's */
    struct service_host host;
    struct shutdown *shutdown;
    struct recording *recording; /* NULL: nothing is */
    struct push *push;           /* NULL: nothing is sent anywhere */
    struct heard_output *output; /* NULL: it is not captured */
    struct stall_watch *stalls;  /* NULL: nothing is to be done about them */
    struct stall_settle *settle; /* the program's end */
    struct delay *notice;        /* every second */
    struct timer_notices notices;
    bool ended;   /* the program */
    bool failed;  /* it, by itself */
    bool leaving; /* the service was told to end */
};

static void look_each_second(void *context)
{
    struct serving *serving = context;

    notice_timers(&serving->notices, serving->host.profile,
                  serving->options->host.profile.settings.period_us);
    if (serving->recording)
        recording_look(serving->recording);
    if (!serving->ended)
        delay_set(serving->notice, NOTICE_MS);
}

static void say_kept(int wait_status)
{
    if (WIFSIGNALED(wait_status))
        log_line("the program was ended by signal %d (%s); Ctrl-C or SIGTERM ends the service",
                 WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
    else
        log_line("the program ended with status %d; Ctrl-C or SIGTERM ends the service",
                 WEXITSTATUS(wait_status));
}

static void program_wrote(void *context, enum service_output output, const void *bytes,
                          size_t length)
{
    struct serving *serving = context;

    service_program_wrote(serving->host.service, output, bytes, length);
    web_poll(serving->host.web);
}

static void no_hello(struct serving *serving, pid_t program)
{
    const char *name = serving->program;

    log_line("%s ended without any sample: " NO_HELLO_REASON, name);
    service_unsampled(serving->host.service, program, name, NO_HELLO_REASON);
}

/* And all that was sampled is where it belongs. */
static void leave_after_end(void *context)
{
    struct serving *serving = context;

    if (!serving->options->keep && !serving->leaving)
        shutdown_begin(serving->shutdown, "the program has ended", false);
}

/* All that the program did is told. */
static void end_settled(void *context)
{
    struct serving *serving = context;

    stall_watch_finish(serving->stalls, serving->failed);
    if (serving->recording)
        recording_finish(serving->recording, true);
    else
        leave_after_end(serving);
}

static void look_at_stalls(void *context)
{
    struct serving *serving = context;

    stall_watch_look(serving->stalls);
}

static void program_ended(struct serving *serving, const struct profile_exit *end)
{
    serving->ended = true;
    if (serving->output)
        heard_output_drain(serving->output);
    service_host_exited(&serving->host, end);
    look_each_second(serving);
    if (feed_socket_hellos(serving->host.feed) == 0)
        no_hello(serving, end->pid);
    feed_socket_say_unsampled(serving->host.feed);
    if (serving->options->stats)
        stats_say(serving->host.profile);
    if (serving->options->keep && !serving->options->quiet)
        say_kept(end->wait_status);
    serving->failed = end->wait_status != 0;
    push_finish(serving->push);
    if (serving->recording || serving->stalls)
        stall_settle_begin(serving->settle, serving->stalls != NULL);
    else
        leave_after_end(serving);
}

static void leave_now(struct serving *serving, const char *reason)
{
    serving->leaving = true;
    push_finish(serving->push);
    stall_settle_stop(serving->settle);
    stall_watch_stop(serving->stalls);
    shutdown_begin(serving->shutdown, reason, true);
    if (recording_runs(serving->recording))
        recording_finish(serving->recording, false);
}

static bool link_ready(void *context)
{
    struct serving *serving = context;
    struct link_message message;
    bool heard = link_hear(serving->link, &message);

    if (heard && message.word == LINK_ENDED)
        program_ended(serving, &message.exit);
    else if (!heard || message.word == LINK_LEAVE)
        leave_now(serving, heard ? "the service was told to end" : "isoscope itself has gone");
    return heard;
}

static int open_host(struct serving *serving, const struct serve_plan *plan)
{
    struct service_host_options options = plan->options->host;

    options.feed_path = plan->feed_path;
    return service_host_open(&serving->host, &options);
}

static int announce(const struct serving *serving)
{
    const char *info = serving->options->service_info;

    if (info && service_info_write(info, serving->host.address.uri) < 0) {
        log_line("cannot write %s: %s", info, service_info_problem(errno));
        return -ISOSCOPE_SYSTEM;
    }
    /* To stderr, unlike the Dart VM: the program's stdout may be a pipe's input. */
    if (!serving->options->quiet && !serving->options->host.deaf)
        log_line_plain("The Dart VM service is listening on %s", serving->host.address.uri);
    return 0;
}

/* Feeds are taken in by the loop only, so what the program has said is heard after this. */
static int await_start(struct serving *serving)
{
    struct link_message message = { .word = LINK_READY };

    link_tell(serving->link, &message);
    if (!link_hear(serving->link, &message) || message.word != LINK_STARTED)
        return -ISOSCOPE_NOT_FOUND; /* isoscope has said why */
    profile_await_exit(serving->host.profile, message.exit.pid);
    push_tell_pid(serving->push, message.exit.pid);
    return 0;
}

static int watch(struct serving *serving, int output)
{
    static const struct io_watch_events events = { .ready = link_ready };
    struct loop *loop = serving->host.loop;

    if ((output >= 0 &&
         heard_output_new(&serving->output, output, loop, program_wrote, serving) < 0) ||
        loop_watch(loop, NULL, serving->link, &events, serving) < 0 ||
        shutdown_new(&serving->shutdown, loop, serving->host.web) < 0 ||
        delay_new(&serving->notice, loop, look_each_second, serving) < 0) {
        log_line("cannot watch the program: %s", strerror(errno));
        return -ISOSCOPE_SYSTEM;
    }
    delay_set(serving->notice, NOTICE_MS);
    return 0;
}

static int run_loop(struct serving *serving)
{
    while (!shutdown_done(serving->shutdown) || recording_runs(serving->recording) ||
           stall_watch_runs(serving->stalls) || push_runs(serving->push))
        if (loop_step(serving->host.loop) < 0) {
            log_line("the service's loop failed: %s", strerror(errno));
            return STATUS_FAILED;
        }
    return stall_watch_fails(serving->stalls) ? STATUS_STALLED : STATUS_OK;
}

/* The loop is there, and no program yet. */
static int record(struct serving *serving)
{
    const struct recording_plan plan = {
        .options = &serving->options->recording,
        .profile = serving->host.profile,
        .service = serving->host.service,
        .loop = serving->host.loop,
        .command = serving->options->host.service.command,
        .sources = serving->options->host.profile.source_root != NULL,
        .quiet = serving->options->quiet,
        .ended = leave_after_end,
        .context = serving,
    };

    return plan.options->path ? recording_start(&serving->recording, &plan) : 0;
}

static int push(struct serving *serving)
{
    const struct feed_settings *settings = &serving->options->host.profile.settings;
    const struct push_plan plan = {
        .options = &serving->options->push,
        .program = serving->program,
        .allocations = settings->allocation_bytes,
        .locks = settings->lock_us,
        .waits = settings->mode == FEED_MODE_WALL,
        .stats = serving->options->stats,
        .loop = serving->host.loop,
        .web = serving->host.web,
        .service = serving->host.service,
    };

    return push_start(&serving->push, &plan);
}

static int watch_stalls(struct serving *serving)
{
    struct service_host *host = &serving->host;

    host->changed = look_at_stalls;
    host->context = serving;
    if (stall_settle_new(&serving->settle, host->loop, host->profile, end_settled, serving) < 0) {
        log_line("cannot watch for stalls: no memory or descriptor is free");
        return -ISOSCOPE_SYSTEM;
    }
    return stall_watch_new(&serving->stalls, &serving->options->host.stalls, host->profile,
                           host->loop, serving->options->host.deaf ? "" : host->address.uri);
}

static void close_all(struct serving *serving)
{
    recording_free(serving->recording);
    stall_watch_stop(serving->stalls);
    push_stop(serving->push);
    service_host_close(&serving->host);
    heard_output_free(serving->output);
    delay_free(serving->notice);
    stall_settle_free(serving->settle);
    push_free(serving->push);
    stall_watch_free(serving->stalls);
    shutdown_free(serving->shutdown);
}

int serve(const struct serve_plan *plan)
{
    struct serving serving = { .options = plan->options,
                               .program = plan->program,
                               .link = plan->link };
    int status = STATUS_FAILED;

    prctl(PR_SET_NAME, SERVE_NAME);
    if (open_host(&serving, plan) == 0 && watch(&serving, plan->output) == 0 &&
        watch_stalls(&serving) == 0 && record(&serving) == 0 && push(&serving) == 0 &&
        announce(&serving) == 0)
        status = await_start(&serving) < 0 ? STATUS_OK : run_loop(&serving);
    close_all(&serving);
    return status;
}
