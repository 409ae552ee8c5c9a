#include "streams.h"

#include "../../feed/layout.h"
#include "../../include/isoscope/isoscope.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct stream {
    char *name;
    bool recorded;
};

struct streams {
    pthread_mutex_t lock; /* guards the rest */
    struct stream list[STREAMS_MAX];
    size_t count;
    bool others;
    uint64_t version;
};

/* The Dart VM's, also those that have no place of their own in a feed. */
#define STREAM_NAME(name, text) text,
static const char *const known[] = { FEED_STREAMS(STREAM_NAME) "CompilerVerbose", "Debugger",
                                     "Isolate" };

/* With the lock; NULL: it is not known. */
static struct stream *find(struct streams *streams, const char *name)
{
    for (size_t i = 0; i < streams->count; i++)
        if (!strcmp(streams->list[i].name, name))
            return &streams->list[i];
    return NULL;
}

/* With the lock; NULL: there is no room. */
static struct stream *add(struct streams *streams, const char *name, bool recorded)
{
    char *copy = streams->count < STREAMS_MAX ? strdup(name) : NULL;

    if (!copy)
        return NULL;
    streams->list[streams->count] = (struct stream){ copy, recorded };
    return &streams->list[streams->count++];
}

int streams_new(struct streams **out)
{
    struct streams *streams = calloc(1, sizeof(*streams));

    if (!streams)
        return -ISOSCOPE_NO_MEMORY;
    pthread_mutex_init(&streams->lock, NULL);
    streams->others = true;
    streams->version = 1;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (!add(streams, known[i], true)) {
            streams_free(streams);
            return -ISOSCOPE_NO_MEMORY;
        }
    *out = streams;
    return 0;
}

void streams_free(struct streams *streams)
{
    if (!streams)
        return;
    for (size_t i = 0; i < streams->count; i++)
        free(streams->list[i].name);
    pthread_mutex_destroy(&streams->lock);
    free(streams);
}

bool streams_meet(struct streams *streams, const char *name)
{
    struct stream *stream;
    bool recorded;

    pthread_mutex_lock(&streams->lock);
    stream = find(streams, name);
    if (!stream)
        stream = add(streams, name, streams->others);
    recorded = stream ? stream->recorded : streams->others;
    pthread_mutex_unlock(&streams->lock);
    return recorded;
}

bool streams_recorded(struct streams *streams, const char *name)
{
    const struct stream *stream;
    bool recorded;

    pthread_mutex_lock(&streams->lock);
    stream = find(streams, name);
    recorded = stream ? stream->recorded : streams->others;
    pthread_mutex_unlock(&streams->lock);
    return recorded;
}

int streams_record(struct streams *streams, const char *const *names, size_t count, bool others)
{
    int error = 0;

    pthread_mutex_lock(&streams->lock);
    for (size_t i = 0; i < streams->count; i++)
        streams->list[i].recorded = false;
    for (size_t i = 0; i < count; i++) {
        struct stream *stream = find(streams, names[i]);

        if (!stream && !(stream = add(streams, names[i], true)))
            error = -ISOSCOPE_NO_MEMORY;
        else
            stream->recorded = true;
    }
    streams->others = others;
    streams->version++;
    pthread_mutex_unlock(&streams->lock);
    return error;
}

uint64_t streams_version(struct streams *streams)
{
    uint64_t version;

    pthread_mutex_lock(&streams->lock);
    version = streams->version;
    pthread_mutex_unlock(&streams->lock);
    return version;
}

size_t streams_list(struct streams *streams, const char **out, size_t capacity)
{
    size_t count;

    pthread_mutex_lock(&streams->lock);
    count = streams->count;
    for (size_t i = 0; i < count && i < capacity; i++)
        out[i] = streams->list[i].name;
    pthread_mutex_unlock(&streams->lock);
    return count;
}
