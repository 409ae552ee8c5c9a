#include "session_copy.h"

#include "../console/log_line.h"
#include "../console/status.h"

#include "../../sampler/feed/cleanup.h"
#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/profile.h"
#include "../../sampler/profile/recorder.h"
#include "../../sampler/profile/saved.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct copying {
    const struct session_copy_options *options;
    sem_t changed; /* the symbol worker knows more */
    struct profile *profile;
    struct saved_session session; /* of the file */
};

static void has_changed(void *context)
{
    struct copying *copying = context;

    sem_post(&copying->changed);
}

/* 0, or the exit status. */
static int open_file(struct copying *copying)
{
    const struct session_copy_options *options = copying->options;
    const struct saved_options saved = { .symbolize = true,
                                         .debuginfod = options->debuginfod,
                                         .changed = has_changed,
                                         .context = copying };
    struct saved_problem problem = { 0 };
    int status = profile_open_saved(&copying->profile, &saved, &options->from, 1, &problem);

    if (status < 0 && problem.reason[0]) {
        log_line("%s: byte %" PRIu64 ": %s", options->from, problem.position, problem.reason);
        return STATUS_USAGE;
    }
    if (status < 0 || profile_start(copying->profile) < 0) {
        log_line("cannot read %s: out of memory", options->from);
        return STATUS_FAILED;
    }
    saved_sessions(copying->profile, &copying->session, 1);
    return 0;
}

static char *give_state(void *context)
{
    const struct copying *copying = context;

    return copying->session.state ? strdup(copying->session.state) : NULL;
}

/* 0 or a negative isoscope_error. SYSTEM: errno tells. */
static int write_steps(struct copying *copying, struct save *save, FILE *out)
{
    const void *bytes;
    size_t count = 0;
    int result;

    while ((result = save_step(save, &bytes, &count)) != 0) {
        if (result == -ISOSCOPE_PENDING)
            sem_wait(&copying->changed);
        else if (result < 0)
            return result;
        else if (fwrite(bytes, 1, count, out) != count)
            return -ISOSCOPE_SYSTEM;
    }
    return fflush(out) == 0 && fsync(fileno(out)) == 0 ? 0 : -ISOSCOPE_SYSTEM;
}

static int write_session(struct copying *copying, FILE *out)
{
    const struct session_options options = { .command = copying->session.command,
                                             .sources = true,
                                             .state = give_state,
                                             .context = copying };
    struct save *save = NULL;
    int status = save_begin(&save, copying->profile, &options, false);

    if (status == 0)
        status = write_steps(copying, save, out);
    save_free(save);
    return status;
}

/* Who could read the one may read the other. */
static void keep_mode(FILE *out, const char *from)
{
    struct stat info;

    if (stat(from, &info) == 0)
        (void)!fchmod(fileno(out), info.st_mode & 0777);
}

static int failed(const char *to, int status)
{
    log_line("cannot write %s: %s", to,
             status == -ISOSCOPE_SYSTEM ? strerror(errno) : "out of memory");
    return STATUS_FAILED;
}

static void free_text(char **text)
{
    free(*text);
}

static int write_beside(struct copying *copying)
{
    CLEANUP(free_text) char *name = NULL;
    const char *to = copying->options->to;
    FILE *out;
    int fd, status;

    if (asprintf(&name, "%s.XXXXXX", to) < 0) {
        name = NULL;
        return failed(to, -ISOSCOPE_NO_MEMORY);
    }
    fd = mkostemp(name, O_CLOEXEC);
    out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out)
        return failed(to, -ISOSCOPE_SYSTEM);
    keep_mode(out, copying->options->from);
    status = write_session(copying, out);
    if (fclose(out) != 0 && status == 0)
        status = -ISOSCOPE_SYSTEM;
    if (status == 0 && rename(name, to) < 0)
        status = -ISOSCOPE_SYSTEM;
    if (status == 0)
        return STATUS_OK;
    status = failed(to, status);
    unlink(name);
    return status;
}

int session_copy(const struct session_copy_options *options)
{
    struct copying copying = { .options = options };
    int status;

    sem_init(&copying.changed, 0, 0);
    status = open_file(&copying);
    if (status == 0)
        status = write_beside(&copying);
    profile_free(copying.profile);
    sem_destroy(&copying.changed);
    return status;
}
