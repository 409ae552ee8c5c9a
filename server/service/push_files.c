#include "push_files.h"

#include "../console/log_line.h"
#include "../console/status.h"
#include "../net/delay.h"
#include "../net/loop.h"
#include "../push/push_delivery.h"
#include "../push/push_window.h"
#include "ending_signals.h"
#include "serve.h"

#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/control.h"
#include "../../sampler/profile/saved.h"
#include "../../sampler/profile/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
    WORK_MS = 1,
    MS_PER_SECOND = 1000,
    NAMES_US = 30 * 1000 * 1000, /* a file has them */
};

/* Profiles, over all files. */
struct counts {
    uint64_t sent, refused, skipped;
};

struct pushing {
    const struct serve_options *options;
    const char *file;
    struct service_host host; /* of this file */
    int signals;
    struct push_delivery *delivery;
    struct push_window *window;
    struct delay *delay;
    struct saved_session session;
    int64_t until_us; /* of the window */
    bool stalls;      /* have been asked for: they are the last */
    struct push_profile waiting;
    char *bytes; /* what the receiver has not taken yet; NULL: there is none */
    size_t length;
    unsigned failures;            /* in a row */
    int64_t trouble_ms;           /* when the first of them was; CLOCK_MONOTONIC */
    struct counts counts, before; /* before: this file */
    bool over;                    /* this file, or */
    bool gave_up, ended;          /* all of them; by the user */
};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static uint64_t done_with(const struct counts *counts)
{
    return counts->sent + counts->refused + counts->skipped;
}

/* It is sent in a turn of its own, and until then nothing else is made. */
static void keep(void *context, const struct push_profile *profile, const char *bytes,
                 size_t length)
{
    struct pushing *pushing = context;

    if (done_with(&pushing->counts) < pushing->options->push.skip) {
        pushing->counts.skipped++;
        return;
    }
    pushing->bytes = malloc(length + 1);
    if (!pushing->bytes) {
        log_line("--push: out of memory");
        pushing->gave_up = true;
        return;
    }
    memcpy(pushing->bytes, bytes, length);
    pushing->length = length;
    pushing->waiting = *profile;
}

static void drop(struct pushing *pushing)
{
    free(pushing->bytes);
    pushing->bytes = NULL;
}

static void say_trouble(const struct pushing *pushing, const struct push_reply *reply)
{
    const struct push_options *push = &pushing->options->push;
    char status[64], patience[64] = "";

    if (push->patience_s)
        snprintf(patience, sizeof(patience), "; trying again for %" PRIu32 " seconds",
                 push->patience_s);
    snprintf(status, sizeof(status), "it answers with status %ld", reply->status);
    log_line("--push: %s: %s%s", push->target.url, reply->status ? status : reply->words, patience);
}

/* The loop has not looked yet; the request has. */
static bool told_to_end(const struct pushing *pushing)
{
    struct pollfd signals = { .fd = pushing->signals, .events = POLLIN };

    return poll(&signals, 1, 0) > 0;
}

/* When to try again; 0: not any more. */
static uint32_t bear_trouble(struct pushing *pushing, const struct push_reply *reply)
{
    int64_t now = now_ms(), patience_ms = pushing->options->push.patience_s * INT64_C(1000);
    uint32_t wait_ms;

    if (told_to_end(pushing))
        return WORK_MS;
    if (!pushing->failures++) {
        pushing->trouble_ms = now;
        say_trouble(pushing, reply);
    }
    wait_ms = push_wait_ms(pushing->failures, reply->retry_after_s, (uint32_t)now);
    if (now + wait_ms <= pushing->trouble_ms + patience_ms)
        return wait_ms;
    pushing->gave_up = true;
    return 0;
}

static uint32_t send_waiting(struct pushing *pushing)
{
    struct push_reply reply;
    enum push_verdict verdict =
        push_deliver(pushing->delivery, &pushing->waiting, pushing->bytes, pushing->length, &reply);

    if (verdict == PUSH_AGAIN)
        return bear_trouble(pushing, &reply);
    if (pushing->failures)
        log_line("--push: %s answers again", pushing->options->push.target.url);
    pushing->failures = 0;
    if (verdict == PUSH_REFUSED)
        push_delivery_say_refused(pushing->delivery, &reply);
    pushing->counts.sent += verdict == PUSH_SENT;
    pushing->counts.refused += verdict == PUSH_REFUSED;
    drop(pushing);
    return WORK_MS;
}

/* False: there is none behind the last one. */
static bool begin_window(struct pushing *pushing)
{
    const struct saved_session *session = &pushing->session;
    int64_t end_us = session->end_us + 1, seconds = pushing->options->push.seconds;
    struct push_span span = { .from_us = pushing->until_us,
                              .until_us = pushing->until_us + seconds * 1000000,
                              .epoch_us = session->wall_start_us - session->start_us,
                              .names_us = NAMES_US };

    if (span.from_us >= end_us)
        return false;
    if (span.until_us > end_us)
        span.until_us = end_us;
    pushing->until_us = span.until_us;
    push_window_begin(pushing->window, &span);
    return true;
}

/* The next profile, window or file. */
static uint32_t make_next(struct pushing *pushing)
{
    if (push_window_runs(pushing->window))
        return push_window_step(pushing->window);
    if (begin_window(pushing))
        return WORK_MS;
    if (pushing->stalls) {
        pushing->over = true;
        return 0;
    }
    pushing->stalls = true;
    push_window_stalls(pushing->window);
    return WORK_MS;
}

static void is_due(void *context)
{
    struct pushing *pushing = context;

    delay_set(pushing->delay, pushing->bytes ? send_waiting(pushing) : make_next(pushing));
}

static bool signal_came(void *context)
{
    struct pushing *pushing = context;

    pushing->gave_up = pushing->ended = true;
    return false;
}

/* Of the program that was started, or of the first. */
static void add_labels(struct pushing *pushing)
{
    struct push_labels *labels = push_window_labels(pushing->window);
    const struct saved_session *session = &pushing->session;
    size_t count = profile_processes(pushing->host.profile, NULL, 0), main = 0;
    struct process_info *processes = calloc(count + 1, sizeof(*processes));
    char pid[16];

    *labels = pushing->options->push.labels;
    if (!processes)
        return;
    profile_processes(pushing->host.profile, processes, count);
    while (main < count && !processes[main].started)
        main++;
    if (main == count)
        main = 0;
    push_label_add_program(labels, session->command && session->command[0] ? session->command[0]
                                   : count                                 ? processes[main].name
                                                                           : pushing->file);
    if (session->host && session->host[0])
        push_label_add(labels, "host", session->host);
    snprintf(pid, sizeof(pid), "%d", (int)processes[main].pid);
    if (count)
        push_label_add(labels, PUSH_PID, pid);
    free(processes);
}

static int open_window(struct pushing *pushing)
{
    const struct feed_settings settings = profile_settings(pushing->host.profile);
    const struct push_window_plan plan = { .form = pushing->options->push.target.form,
                                           .allocations = settings.allocation_bytes,
                                           .locks = settings.lock_us,
                                           .waits = settings.mode == FEED_MODE_WALL,
                                           .web = pushing->host.web,
                                           .service = pushing->host.service,
                                           .made = keep,
                                           .context = pushing };

    if (push_window_new(&pushing->window, &plan) < 0) {
        log_line("--push: out of memory");
        return -ISOSCOPE_NO_MEMORY;
    }
    saved_sessions(pushing->host.profile, &pushing->session, 1);
    pushing->until_us = pushing->session.start_us;
    add_labels(pushing);
    return 0;
}

/* The loop closes what it watches, and the signals are those of all files. */
static int watch(struct pushing *pushing)
{
    static const struct io_watch_events events = { .ready = signal_came };
    struct loop *loop = pushing->host.loop;
    int fd = fcntl(pushing->signals, F_DUPFD_CLOEXEC, 0);

    if (fd >= 0 && loop_watch(loop, NULL, fd, &events, pushing) == 0 &&
        delay_new(&pushing->delay, loop, is_due, pushing) == 0) {
        delay_set(pushing->delay, WORK_MS);
        return 0;
    }
    log_line("cannot wait for signals: %s", strerror(errno));
    return -ISOSCOPE_SYSTEM;
}

static int run_loop(struct pushing *pushing)
{
    while (!pushing->over && !pushing->gave_up)
        if (loop_step(pushing->host.loop) < 0) {
            log_line("the service's loop failed: %s", strerror(errno));
            return STATUS_FAILED;
        }
    return STATUS_OK;
}

static void close_file(struct pushing *pushing)
{
    drop(pushing);
    push_window_free(pushing->window);
    service_host_close(&pushing->host);
    delay_free(pushing->delay);
    pushing->window = NULL;
    pushing->delay = NULL;
}

/* Profiles that could not be made are not there, which is more than a word. */
static int look_at_damage(const struct pushing *pushing)
{
    struct saved_problem problem;

    if (saved_damage(pushing->host.profile, &problem)) {
        log_line("%s: byte %" PRIu64 ": %s; what could be read of it was pushed", pushing->file,
                 problem.position, problem.reason);
        return STATUS_USAGE;
    }
    if (!push_window_failed(pushing->window))
        return STATUS_OK;
    log_line("%s: %u profiles could not be made: out of memory", pushing->file,
             push_window_failed(pushing->window));
    return STATUS_FAILED;
}

static void say_file(const struct pushing *pushing)
{
    const struct counts *now = &pushing->counts, *before = &pushing->before;

    if (!pushing->options->quiet)
        log_line("--push: %s: %" PRIu64 " profiles taken, %" PRIu64 " refused, %" PRIu64
                 " skipped%s",
                 pushing->file, now->sent - before->sent, now->refused - before->refused,
                 now->skipped - before->skipped, pushing->gave_up ? "; not all of it" : "");
}

/* 0 or the exit status. */
static int push_file(struct pushing *pushing)
{
    struct service_host_options options = pushing->options->host;
    int status;

    options.files = &pushing->file;
    options.file_count = 1;
    options.deaf = true;
    pushing->over = pushing->stalls = false;
    pushing->before = pushing->counts;
    status = service_host_open(&pushing->host, &options);
    status = status == 0 ? STATUS_OK : status == -ISOSCOPE_INVALID ? STATUS_USAGE : STATUS_FAILED;
    if (status == STATUS_OK && (open_window(pushing) < 0 || watch(pushing) < 0))
        status = STATUS_FAILED;
    if (status == STATUS_OK)
        status = run_loop(pushing);
    if (status == STATUS_OK)
        status = look_at_damage(pushing);
    if (pushing->window)
        say_file(pushing);
    close_file(pushing);
    return status;
}

/* How to go on. */
static void say_unsent(const struct pushing *pushing)
{
    log_line("--push: %s; the rest is in %s still. To go on%s, repeat the command with --push-skip "
             "%" PRIu64,
             pushing->ended ? "it was told to end" : "the receiver is in trouble for too long",
             pushing->options->host.file_count > 1 ? "the files" : pushing->file,
             pushing->ended ? "" : " when it answers", done_with(&pushing->counts));
}

static int status_of(const struct pushing *pushing, int status)
{
    if (pushing->gave_up)
        say_unsent(pushing);
    if (status != STATUS_OK)
        return status;
    return pushing->gave_up ? STATUS_UNSENT : pushing->counts.refused ? STATUS_REFUSED : STATUS_OK;
}

int push_files(const struct serve_options *options)
{
    const struct push_options *push = &options->push;
    const struct push_delivery_plan plan = { &push->target, push->headers, push->zstd };
    struct pushing pushing = { .options = options, .signals = ending_signals() };
    int worst = STATUS_OK;
    char error[512];

    prctl(PR_SET_NAME, SERVE_NAME);
    if (pushing.signals < 0) {
        log_line("cannot wait for signals: %s", strerror(errno));
        return STATUS_FAILED;
    }
    if (push_delivery_new(&pushing.delivery, &plan, error, sizeof(error)) < 0) {
        log_line("--push: %s", error);
        close(pushing.signals);
        return STATUS_FAILED;
    }
    push_delivery_end_with(pushing.delivery, pushing.signals);
    for (size_t i = 0; i < options->host.file_count && !pushing.gave_up; i++) {
        int status;

        pushing.file = options->host.files[i];
        status = push_file(&pushing);
        if (status != STATUS_OK)
            worst = status;
    }
    push_delivery_free(pushing.delivery);
    close(pushing.signals);
    return status_of(&pushing, worst);
}
