#include "attach.h"

#include "../console/log_line.h"
#include "../console/status.h"
#include "../net/delay.h"
#include "../net/loop.h"
#include "../net/wake.h"
#include "../push/push.h"
#include "../run/paths.h"
#include "../run/run_dir.h"
#include "../service/ending_signals.h"
#include "../service/notices.h"
#include "../service/recording.h"
#include "../service/service_host.h"
#include "../service/service_info.h"
#include "../service/shutdown.h"
#include "../service/stall_settle.h"
#include "../service/stall_watch.h"
#include "../service/stats.h"
#include "attach_options.h"

#include "../../sampler/feed/layout.h"
#include "../../sampler/feed/message.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/control.h"
#include "../../sampler/remote/attached.h"
#include "../../sampler/remote/scheme.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ERROR_BYTES = 512, LOOK_MS = 1000, MS_PER_SECOND = 1000 };

struct attaching {
    const struct attach_options *options;
    struct run_dir *dir;
    char tables[PATH_MAX];
    struct service_host host;
    struct shutdown *shutdown;
    struct recording *recording;  /* NULL: nothing is */
    struct push *push;            /* NULL: nothing is sent anywhere */
    struct stall_watch *stalls;   /* NULL: nothing is to be done about them */
    struct stall_settle *settle;  /* the end: all stalls are told */
    struct delay *look;           /* every second */
    struct delay *leave;          /* --for */
    struct wake *over;            /* from the threads that sample */
    char *library;                /* that is injected; NULL: none */
    int signals;                  /* the loop's */
    uid_t users[ATTACH_PIDS_MAX]; /* whose programs say hello, other than ours */
    size_t user_count;
    struct attached *list[ATTACH_PIDS_MAX];
    size_t count;
    struct timer_notices notices;
    bool left;          /* nothing is sampled any more */
    const char *reason; /* why, then */
};

static void say_cost(struct attached *attached)
{
    struct scheme_cost cost;

    attached_cost(attached, &cost);
    if (cost.stops)
        log_line("  stops            %7llu  of threads, of %.0f us on average and %.0f us at most",
                 (unsigned long long)cost.stops, (double)cost.stopped_ns / 1e3 / (double)cost.stops,
                 (double)cost.stopped_most_ns / 1e3);
    if (cost.stack_bytes)
        log_line("  copies           %7" PRIu32
                 "  bytes of stack at most with each sample; %llu stacks were longer",
                 cost.stack_bytes, (unsigned long long)cost.cut);
    if (cost.kernel_threads)
        log_line("  kernel threads   %7llu  samples: they belong to no process, and are not shown",
                 (unsigned long long)cost.kernel_threads);
}

/* What the sampler in a program cannot do there. */
static void notice(struct attaching *attaching)
{
    if (attaching->options->via == ATTACHED_INJECT && !attaching->options->serve.quiet)
        notice_timers(&attaching->notices, attaching->host.profile,
                      attaching->options->serve.host.profile.settings.period_us);
}

/* All that was sampled is where it belongs. */
static void leave_after_end(void *context)
{
    struct attaching *attaching = context;

    if (!attaching->options->serve.keep)
        shutdown_begin(attaching->shutdown, attaching->reason, false);
}

/* All stalls are told. How the programs ended is not known: it is their parents' to hear. */
static void end_settled(void *context)
{
    struct attaching *attaching = context;

    stall_watch_finish(attaching->stalls, false);
    if (attaching->recording)
        recording_finish(attaching->recording, true);
    else
        leave_after_end(attaching);
}

static void leave_at_once(struct attaching *attaching)
{
    stall_settle_stop(attaching->settle);
    stall_watch_stop(attaching->stalls);
    shutdown_begin(attaching->shutdown, attaching->reason, true);
    if (recording_runs(attaching->recording))
        recording_finish(attaching->recording, false);
}

static void look_at_stalls(void *context)
{
    struct attaching *attaching = context;

    stall_watch_look(attaching->stalls);
}

static void stop_sampling(struct attaching *attaching, const char *reason)
{
    attaching->left = true;
    profile_sync(attaching->host.profile);
    notice(attaching);
    if (attaching->options->serve.stats)
        stats_say(attaching->host.profile);
    for (size_t i = 0; i < attaching->count; i++) {
        if (attaching->options->serve.stats)
            say_cost(attaching->list[i]);
        attached_free(attaching->list[i]);
    }
    attaching->count = 0;
    profile_sync(attaching->host.profile);
    attaching->reason = reason;
    push_finish(attaching->push);
}

static void finish(struct attaching *attaching, const char *reason)
{
    if (attaching->left)
        return;
    stop_sampling(attaching, reason);
    if (attaching->stalls)
        stall_settle_begin(attaching->settle, true);
    else
        end_settled(attaching);
}

static bool all_over(const struct attaching *attaching)
{
    for (size_t i = 0; i < attaching->count; i++)
        if (!attached_is_over(attaching->list[i]))
            return false;
    return true;
}

static void look_whether_over(void *context)
{
    struct attaching *attaching = context;

    if (attaching->left || !all_over(attaching))
        return;
    if (!attaching->options->serve.quiet)
        log_line("process %d %s", (int)attaching->options->pids[0],
                 attaching->options->pid_count == 1 ? "has ended" : "and the others have ended");
    finish(attaching, "the programs have ended");
}

static void look_each_second(void *context)
{
    struct attaching *attaching = context;

    if (!attaching->left)
        notice(attaching);
    if (attaching->recording)
        recording_look(attaching->recording);
    delay_set(attaching->look, LOOK_MS);
}

static void time_is_over(void *context)
{
    finish(context, "the time that was asked for is over");
}

static bool signal_came(void *context)
{
    struct attaching *attaching = context;
    struct signalfd_siginfo info;

    if (read(attaching->signals, &info, sizeof(info)) != sizeof(info))
        return true;
    if (!attaching->left) {
        stop_sampling(attaching, "the service was told to end");
        stall_watch_finish(attaching->stalls, false);
    }
    leave_at_once(attaching);
    return true;
}

/* On a thread that samples. */
static void joined(void *context, pid_t pid, pid_t parent, const char *exe, int memfd)
{
    struct attaching *attaching = context;
    const struct profile_peer peer = { pid, parent, FEED_ORIGIN_EXEC, -1, -1, exe };

    profile_attach(attaching->host.profile, memfd, &peer, NULL);
}

static void ended(void *context)
{
    struct attaching *attaching = context;

    wake_now(attaching->over);
}

static void stayed(void *context, const char *why)
{
    (void)context;
    log_line("the sampler was not stopped: %s. It does nothing while no service reads it", why);
}

static void say_attached(const struct attaching *attaching, pid_t pid, struct attached *attached)
{
    const char *refused = attached_refused(attached);
    struct scheme_cost cost;

    if (refused[0])
        log_line("%s. Threads that run are stopped for a moment instead (--via suspend)", refused);
    else if (!attaching->options->serve.quiet && !pid)
        log_line("attached to all processes by %s", attached_word(attached));
    else if (!attaching->options->serve.quiet)
        log_line("attached to process %d by %s", (int)pid, attached_word(attached));
    attached_cost(attached, &cost);
    if (cost.no_kernel)
        log_line(
            "the kernel lets only root sample its own code: time there is told with the code of "
            "process %d that is sampled next",
            (int)pid);
    if (cost.unnamed_kernel)
        log_line("the kernel hides its addresses from this user, so its frames have no names: run "
                 "isoscope as root, or `sysctl kernel.kptr_restrict=0`");
}

/* False: to none of them. */
static bool attach_all(struct attaching *attaching)
{
    const struct feed_settings *settings = &attaching->options->serve.host.profile.settings;

    if (attaching->options->all && geteuid() != 0) {
        log_line(
            "attach: --all reads the memory of everybody's processes: run it as root, or attach to "
            "your own ones (--name '*')");
        return false;
    }
    if (attaching->options->via == ATTACHED_INJECT && paths_library(&attaching->library) < 0)
        return false;
    for (size_t i = 0; i < attaching->options->pid_count; i++) {
        const struct attached_options options = {
            .pid = attaching->options->pids[i],
            .via = (enum attached_via)attaching->options->via,
            .interpreted = !attaching->options->no_runtimes,
            .alone = attaching->options->alone,
            .off_cpu = attaching->options->off_cpu,
            .kernel = attaching->options->kernel,
            .tables_path = profile_has_tables(attaching->host.profile) ? attaching->tables : NULL,
            .library = attaching->library,
            .socket = run_dir_socket(attaching->dir),
            .period_us = settings->period_us,
            .alloc = settings->allocation_bytes != 0,
            .lock = settings->lock_us != 0,
            .eject = attaching->options->eject,
            .stayed = stayed,
            .joined = joined,
            .ended = ended,
            .context = attaching,
        };
        struct refusal why;

        if (!attached_new(&attaching->list[attaching->count], &options, &why))
            log_line("attach: %s", why.text);
        else
            say_attached(attaching, options.pid, attaching->list[attaching->count++]);
    }
    return attaching->count;
}

/* Frames of interpreters change while they run: they are read only of threads that stand still. */
static void want_runtimes(struct attaching *attaching)
{
    struct feed_settings settings = attaching->options->serve.host.profile.settings;

    for (size_t i = 0; i < attaching->count; i++)
        if (!attached_holds(attaching->list[i]))
            return;
    settings.wants = attaching->options->no_runtimes ? 0 : FEED_WANT_RUNTIMES;
    profile_apply_settings(attaching->host.profile, &settings);
}

static int record(struct attaching *attaching)
{
    const struct serve_options *serve = &attaching->options->serve;
    static const char *const command[] = { "attach", NULL };
    const struct recording_plan plan = {
        .options = &serve->recording,
        .profile = attaching->host.profile,
        .service = attaching->host.service,
        .loop = attaching->host.loop,
        .command = command,
        .sources = serve->host.profile.source_root != NULL,
        .quiet = serve->quiet,
        .ended = leave_after_end,
        .context = attaching,
    };

    return serve->recording.path ? recording_start(&attaching->recording, &plan) : 0;
}

/* Of the first one, by the kernel's word for it. */
static void read_name(pid_t pid, char *out, size_t size)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
    snprintf(out, size, "process %d", (int)pid);
    file = fopen(path, "re");
    if (file && fgets(out, (int)size, file))
        out[strcspn(out, "\n")] = '\0';
    if (file)
        fclose(file);
}

static int push(struct attaching *attaching)
{
    const struct attach_options *options = attaching->options;
    char name[32];
    const struct push_plan plan = {
        .options = &options->serve.push,
        .program = name,
        .waits = options->serve.host.profile.settings.mode == FEED_MODE_WALL,
        .stats = options->serve.stats,
        .loop = attaching->host.loop,
        .web = attaching->host.web,
        .service = attaching->host.service,
    };
    int status;

    if (options->all)
        snprintf(name, sizeof(name), "all processes");
    else
        read_name(options->pids[0], name, sizeof(name));
    status = push_start(&attaching->push, &plan);
    if (options->pid_count == 1 && !options->all)
        push_tell_pid(attaching->push, options->pids[0]);
    return status;
}

static int watch(struct attaching *attaching)
{
    static const struct io_watch_events events = { .ready = signal_came };
    struct loop *loop = attaching->host.loop;

    if (loop_watch(loop, NULL, attaching->signals, &events, attaching) < 0 ||
        shutdown_new(&attaching->shutdown, loop, attaching->host.web) < 0 ||
        wake_new(&attaching->over) < 0 ||
        wake_watch(attaching->over, loop, look_whether_over, attaching) < 0 ||
        delay_new(&attaching->leave, loop, time_is_over, attaching) < 0 ||
        delay_new(&attaching->look, loop, look_each_second, attaching) < 0) {
        log_line("cannot wait for signals: %s", strerror(errno));
        return -ISOSCOPE_SYSTEM;
    }
    delay_set(attaching->look, LOOK_MS);
    delay_set(attaching->leave, attaching->options->seconds * MS_PER_SECOND);
    return 0;
}

static int watch_stalls(struct attaching *attaching)
{
    struct service_host *host = &attaching->host;
    const struct service_host_options *options = &attaching->options->serve.host;

    host->changed = look_at_stalls;
    host->context = attaching;
    if (stall_settle_new(&attaching->settle, host->loop, host->profile, end_settled, attaching) <
        0) {
        log_line("cannot watch for stalls: no memory or descriptor is free");
        return -ISOSCOPE_SYSTEM;
    }
    return stall_watch_new(&attaching->stalls, &options->stalls, host->profile, host->loop,
                           options->deaf ? "" : host->address.uri);
}

static int announce(const struct attaching *attaching)
{
    const struct serve_options *serve = &attaching->options->serve;
    const char *uri = attaching->host.address.uri;

    if (serve->service_info && service_info_write(serve->service_info, uri) < 0) {
        log_line("cannot write %s: %s", serve->service_info, service_info_problem(errno));
        return -ISOSCOPE_SYSTEM;
    }
    if (!serve->quiet)
        log_line_plain("The Dart VM service is listening on %s", uri);
    return 0;
}

static int run_loop(struct attaching *attaching)
{
    while (!shutdown_done(attaching->shutdown) || recording_runs(attaching->recording) ||
           stall_watch_runs(attaching->stalls) || push_runs(attaching->push))
        if (loop_step(attaching->host.loop) < 0) {
            log_line("the service's loop failed: %s", strerror(errno));
            return STATUS_FAILED;
        }
    return stall_watch_fails(attaching->stalls) ? STATUS_STALLED : STATUS_OK;
}

/* Whom the sampler in a program runs as, and what it can reach. A process that is not there is told of later. */
static void list_users(struct attaching *attaching)
{
    const struct attach_options *options = attaching->options;

    for (size_t i = 0; options->via == ATTACHED_INJECT && i < options->pid_count; i++) {
        struct stat info;
        char path[64];

        snprintf(path, sizeof(path), "/proc/%d/task", (int)options->pids[i]);
        if (stat(path, &info) == 0 && info.st_uid != geteuid())
            attaching->users[attaching->user_count++] = info.st_uid;
    }
}

static int open_host(struct attaching *attaching)
{
    struct service_host_options host = attaching->options->serve.host;
    char problem[ERROR_BYTES];

    list_users(attaching);
    if ((attaching->user_count ? run_dir_new_for_others : run_dir_new)(&attaching->dir, problem,
                                                                       sizeof(problem)) < 0) {
        log_line("%s", problem);
        return -ISOSCOPE_SYSTEM;
    }
    host.feed_path = run_dir_socket(attaching->dir);
    host.outside = attaching->options->via != ATTACHED_INJECT;
    host.users = attaching->users;
    host.user_count = attaching->user_count;
    snprintf(attaching->tables, sizeof(attaching->tables), "%s" FEED_TABLES_SUFFIX, host.feed_path);
    return service_host_open(&attaching->host, &host);
}

static int serve_attached(struct attaching *attaching)
{
    if (open_host(attaching) < 0 || watch(attaching) < 0 || watch_stalls(attaching) < 0 ||
        record(attaching) < 0 || push(attaching) < 0)
        return STATUS_FAILED;
    if (!attach_all(attaching))
        return STATUS_NOTHING;
    want_runtimes(attaching);
    return announce(attaching) < 0 ? STATUS_FAILED : run_loop(attaching);
}

static void close_all(struct attaching *attaching)
{
    for (size_t i = 0; i < attaching->count; i++)
        attached_free(attaching->list[i]);
    recording_free(attaching->recording);
    stall_watch_stop(attaching->stalls);
    push_stop(attaching->push);
    service_host_close(&attaching->host);
    delay_free(attaching->look);
    delay_free(attaching->leave);
    wake_free(attaching->over);
    stall_settle_free(attaching->settle);
    push_free(attaching->push);
    stall_watch_free(attaching->stalls);
    shutdown_free(attaching->shutdown);
    run_dir_free(attaching->dir);
    paths_freep(&attaching->library);
}

int attach_command(int argc, char **argv, const struct inherited *inherited)
{
    static struct attach_options options; /* texts of its are pointed to */
    static struct attaching attaching;
    char error[ERROR_BYTES];
    int status;

    (void)inherited;
    if (attach_options_parse(&options, argc, argv, error, sizeof(error)) < 0) {
        log_line("%s", error);
        log_line_plain("Try `isoscope attach --help`.");
        return STATUS_USAGE;
    }
    if (options.help) {
        attach_options_help(stdout);
        return STATUS_OK;
    }
    attaching = (struct attaching){ .options = &options, .signals = ending_signals() };
    if (attaching.signals < 0) {
        log_line("cannot wait for signals: %s", strerror(errno));
        return STATUS_FAILED;
    }
    status = serve_attached(&attaching);
    close_all(&attaching);
    return status;
}
