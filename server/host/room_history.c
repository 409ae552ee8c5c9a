#include "room_history.h"

#include "../console/log_line.h"

#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/recorder.h"
#include "../../sampler/profile/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAMES_MS = 2000, PROBLEM_BYTES = 512 };

#define ENDING ".isoscope"

struct room_history {
    char folder[PATH_MAX - NAME_MAX - 2]; /* "": there is none */
    size_t bytes_max;
    char *state; /* the service's, while it is saved */
    pthread_mutex_t lock;
    pthread_cond_t finished;
    bool is_finished;
};

/* Names are times, so their order is that of the files. */
static int is_session(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), ending = strlen(ENDING);

    return length > ending && entry->d_name[0] != '.' &&
           !strcmp(entry->d_name + length - ending, ENDING);
}

static void path_of(const struct room_history *history, const char *name, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s/%s", history->folder, name);
}

/* Oldest first; each and the list from malloc. 0: there are none. */
static int list_sessions(const struct room_history *history, struct dirent ***out)
{
    int count = history->folder[0] ? scandir(history->folder, out, is_session, alphasort) : -1;

    return count < 0 ? 0 : count;
}

static void tell_sessions(void *context, void (*tell)(void *to, const char *path), void *to)
{
    struct dirent **list = NULL;
    char path[PATH_MAX];

    for (int i = list_sessions(context, &list); i-- > 0; free(list[i])) {
        path_of(context, list[i]->d_name, path);
        tell(to, path);
    }
    free(list);
}

/* From the newest on: what is beyond the bounds goes. */
static void remove_the_oldest(const struct room_history *history)
{
    struct dirent **list = NULL;
    int count = list_sessions(history, &list), kept = 0;
    uint64_t bytes = 0;
    char path[PATH_MAX];
    struct stat info;

    for (int i = count; i-- > 0; free(list[i])) {
        path_of(history, list[i]->d_name, path);
        if (lstat(path, &info) < 0)
            continue;
        bytes += (uint64_t)info.st_size;
        if (kept && (kept == ROOM_SESSIONS_MAX || bytes > history->bytes_max))
            unlink(path);
        else
            kept++;
    }
    free(list);
}

/* ---- on the recorder's thread ---- */

static char *give_state(void *context)
{
    struct room_history *history = context;

    return history->state ? strdup(history->state) : NULL;
}

static void has_problem(void *context, const char *text)
{
    (void)context;
    log_line("%s", text);
}

static void has_finished(void *context)
{
    struct room_history *history = context;

    pthread_mutex_lock(&history->lock);
    history->is_finished = true;
    pthread_cond_signal(&history->finished);
    pthread_mutex_unlock(&history->lock);
}

/* ---- */

static void write_session(struct room_history *history, struct profile *profile, const char *path)
{
    const struct recorder_options options = {
        .session = { .state = give_state, .context = history },
        .path = path,
        .problem = has_problem,
        .finished = has_finished,
    };
    char problem[PROBLEM_BYTES] = "out of memory";
    struct recorder *recorder;

    history->is_finished = false;
    if (recorder_start(&recorder, profile, &options, problem, sizeof(problem)) < 0) {
        log_line("what was sampled is not kept: %s", problem);
        return;
    }
    recorder_finish(recorder, NAMES_MS);
    pthread_mutex_lock(&history->lock);
    while (!history->is_finished)
        pthread_cond_wait(&history->finished, &history->lock);
    pthread_mutex_unlock(&history->lock);
    recorder_free(recorder);
}

void room_history_save(struct room_history *history, struct profile *profile,
                       const struct service *service)
{
    char name[64], path[PATH_MAX];
    time_t now = time(NULL);
    struct tm parts;

    if (!history || !history->folder[0] || !profile_history(profile).last_us)
        return;
    if (mkdir(history->folder, S_IRWXU) < 0 && errno != EEXIST) {
        log_line("what was sampled is not kept: %s: %s", history->folder, strerror(errno));
        return;
    }
    gmtime_r(&now, &parts);
    strftime(name, sizeof(name), "%Y%m%d-%H%M%SZ" ENDING, &parts);
    path_of(history, name, path);
    history->state = service_state(service);
    write_session(history, profile, path);
    free(history->state);
    history->state = NULL;
    remove_the_oldest(history);
}

int room_history_new(struct room_history **out, const char *folder, size_t bytes_max,
                     struct service_earlier *earlier)
{
    struct room_history *history = calloc(1, sizeof(*history));

    if (!history)
        return -ISOSCOPE_NO_MEMORY;
    if (folder[0])
        snprintf(history->folder, sizeof(history->folder), "%s/sessions", folder);
    history->bytes_max = bytes_max;
    pthread_mutex_init(&history->lock, NULL);
    pthread_cond_init(&history->finished, NULL);
    if (folder[0])
        *earlier = (struct service_earlier){ tell_sessions, history };
    *out = history;
    return 0;
}

void room_history_free(struct room_history *history)
{
    if (!history)
        return;
    pthread_cond_destroy(&history->finished);
    pthread_mutex_destroy(&history->lock);
    free(history);
}
