#include "recording.h"

#include "../console/log_line.h"
#include "../net/wake.h"

#include "../../protocol/service.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PROBLEM_BYTES = 512,
    NAMES_WAIT_MS = 60 * 1000, /* debug data of a large program takes some seconds */
};

struct recording {
    struct recording_plan plan;
    struct recorder *recorder;
    struct wake *wake;
    pthread_mutex_t lock; /* of state */
    char *state;          /* what the service knew last; NULL: nothing yet */
    bool finishing, ended;
};

static const char magic[8] = "\x89ISO\r\n\x1a\n";

/* An empty file is nobody's work. */
static bool may_replace(const char *path)
{
    char first[sizeof(magic)];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t length = fd < 0 ? -1 : read(fd, first, sizeof(first));

    if (fd >= 0)
        close(fd);
    return length == 0 || (length == sizeof(first) && !memcmp(first, magic, sizeof(first)));
}

static int check_existing(const char *path, const struct stat *info, char *error, size_t error_size)
{
    if (S_ISDIR(info->st_mode))
        snprintf(error, error_size, "%s is a folder; give a file's name", path);
    else if (!S_ISREG(info->st_mode))
        snprintf(error, error_size, "%s is no regular file", path);
    else if (access(path, R_OK | W_OK) < 0)
        snprintf(error, error_size, "cannot write %s: %s", path, strerror(errno));
    else if (!may_replace(path))
        snprintf(error, error_size,
                 "%s exists and is no session file; remove it, or choose another name", path);
    else
        return 0;
    return -ISOSCOPE_INVALID;
}

/* The part of path up to its last slash, or ".". */
static void folder_of(char out[PATH_MAX], const char *path)
{
    const char *slash = strrchr(path, '/');

    snprintf(out, PATH_MAX, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
}

int recording_check(const struct recording_options *options, char *error, size_t error_size)
{
    const char *path = options->path;
    char folder[PATH_MAX];
    struct stat info;

    if (!path)
        return 0;
    /* With rotation the files have names that nobody has yet. */
    if (!options->rotate_seconds && stat(path, &info) == 0)
        return check_existing(path, &info, error, error_size);
    if (!options->rotate_seconds && errno != ENOENT) {
        snprintf(error, error_size, "cannot write %s: %s", path, strerror(errno));
        return -ISOSCOPE_INVALID;
    }
    folder_of(folder, path);
    if (access(folder, W_OK | X_OK) == 0)
        return 0;
    snprintf(error, error_size,
             errno == ENOENT ? "cannot write %s: the folder %s does not exist"
                             : "cannot write %s: no file can be made in %s",
             path, folder);
    return -ISOSCOPE_INVALID;
}

/* On the recorder's thread, as the next two. */
static char *give_state(void *context)
{
    struct recording *recording = context;
    char *state;

    pthread_mutex_lock(&recording->lock);
    state = recording->state ? strdup(recording->state) : NULL;
    pthread_mutex_unlock(&recording->lock);
    return state;
}

static void has_problem(void *context, const char *text)
{
    (void)context;
    log_line("%s. The program is not touched", text);
}

static void has_finished(void *context)
{
    struct recording *recording = context;

    wake_now(recording->wake);
}

static void say_size(char *out, size_t size, uint64_t bytes)
{
    if (bytes < 1000 * 1000)
        snprintf(out, size, "%.1f kB", (double)bytes / 1e3);
    else
        snprintf(out, size, "%.1f MB", (double)bytes / 1e6);
}

/* As a shell takes it. */
static void say_path(char *out, size_t size, const char *path)
{
    bool plain = path[strcspn(path, " \t\n\\\"'$&;|<>()*?[]#~`!{}")] == '\0';

    snprintf(out, size, plain ? "%s" : "'%s'", path);
}

static void say_recorded(struct recording *recording)
{
    struct recorder_status status;
    char path[PATH_MAX + 2], size[32];

    if (recording->plan.quiet)
        return;
    recorder_status(recording->recorder, &status);
    say_path(path, sizeof(path), status.path);
    say_size(size, sizeof(size), status.bytes);
    log_line("recorded %" PRIu64 " samples in %s%s (%s); next: isoscope tree %s, or isoscope serve "
             "%s",
             status.samples, recording->plan.options->rotate_seconds ? "files up to " : "", path,
             size, path, path);
    if (status.missed)
        log_line("%" PRIu64 " samples are not in it: they came faster than they could be written; "
                 "a larger --history helps",
                 status.missed);
}

static void look_whether_ended(void *context)
{
    struct recording *recording = context;
    struct recorder_status status;

    recorder_status(recording->recorder, &status);
    if (!recording->finishing || recording->ended || status.recording)
        return;
    recording->ended = true;
    say_recorded(recording);
    recording->plan.ended(recording->plan.context);
}

static int start_recorder(struct recording *recording)
{
    const struct recording_plan *plan = &recording->plan;
    const struct recorder_options options = {
        .session = { .command = plan->command,
                     .sources = plan->sources,
                     .state = give_state,
                     .context = recording },
        .path = plan->options->path,
        .rotate_seconds = plan->options->rotate_seconds,
        .keep = plan->options->keep_files,
        .problem = has_problem,
        .finished = has_finished,
    };
    char problem[PROBLEM_BYTES] = "out of memory";
    int status;

    recording_look(recording);
    status =
        recorder_start(&recording->recorder, plan->profile, &options, problem, sizeof(problem));
    if (status < 0)
        log_line("cannot record to %s: %s", plan->options->path, problem);
    return status;
}

int recording_start(struct recording **out, const struct recording_plan *plan)
{
    struct recording *recording = calloc(1, sizeof(*recording));
    int status;

    if (!recording)
        return -ISOSCOPE_NO_MEMORY;
    recording->plan = *plan;
    pthread_mutex_init(&recording->lock, NULL);
    status = wake_new(&recording->wake);
    if (status == 0)
        status = wake_watch(recording->wake, plan->loop, look_whether_ended, recording);
    if (status < 0)
        log_line("cannot record: %s", strerror(errno));
    else
        status = start_recorder(recording);
    if (status == 0)
        *out = recording;
    else
        recording_free(recording);
    return status;
}

void recording_look(struct recording *recording)
{
    char *state = service_state(recording->plan.service);

    if (!state)
        return;
    pthread_mutex_lock(&recording->lock);
    free(recording->state);
    recording->state = state;
    pthread_mutex_unlock(&recording->lock);
}

void recording_finish(struct recording *recording, bool names)
{
    recording_look(recording);
    recording->finishing = true;
    recorder_finish(recording->recorder, names ? NAMES_WAIT_MS : 0);
}

bool recording_runs(const struct recording *recording)
{
    return recording && !recording->ended;
}

void recording_free(struct recording *recording)
{
    if (!recording)
        return;
    recorder_free(recording->recorder);
    wake_free(recording->wake);
    pthread_mutex_destroy(&recording->lock);
    free(recording->state);
    free(recording);
}
