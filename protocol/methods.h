/*
 * methods.h - the methods there are: their parameters, where the checked values go, who answers.
 *
 * One row a method (methods.c), one struct for its parameters, one handler. The handler never looks
 * at the request: params.h has checked everything by the row and filled the struct in.
 */
#ifndef ISOSCOPE_METHODS_H
#define ISOSCOPE_METHODS_H

#include "params.h"

#include <jansson.h>

struct client;
struct cpu_samples_writer;

struct stream_params {
    const char *stream_id;
};
struct isolate_params {
    const struct process_info *isolate; /* NULL: not given, where it is optional */
};
struct isolate_group_params {
    const struct process_info *isolate;
};
struct set_flag_params {
    const char *name, *value;
};
struct enable_profiler_params {
    const struct process_info *isolate;
    bool enable;
};
struct article_samples_params {
    const struct process_info *isolate; /* NULL: all */
    bool available;                     /* names and lines that are known by now, at once */
    int64_t timestamp_us;               /* up to 0: from the start */
    int64_t count;                      /* 0: all */
};
struct cpu_samples_params {
    const struct process_info *isolate;
    bool available;
    int64_t origin_us, extent_us; /* -1: not given */
};
struct object_params {
    const struct process_info *isolate;
    const char *id;
    int64_t offset, count; /* of lists, which no object of ours has */
};
struct uris_params {
    const struct process_info *isolate;
    json_t *uris;
};

union method_params {
    struct stream_params stream;
    struct isolate_params isolate;
    struct isolate_group_params isolate_group;
    struct set_flag_params set_flag;
    struct enable_profiler_params enable_profiler;
    struct article_samples_params article_samples;
    struct cpu_samples_params cpu_samples;
    struct object_params object;
    struct uris_params uris;
};

/* What a handler gives: one of the two. Owned by who called it. */
struct reply {
    json_t *result;
    struct cpu_samples_writer *samples;
};

/* 0, a negative rpc_error (fail), or HANDLER_WAITS: ask again when the profile has changed. */
typedef int method_handler(struct client *client, const union method_params *params,
                           struct reply *reply);
enum { HANDLER_WAITS = 1 };

enum method_trait {
    /* In the VM its router answers these itself: errors do not echo the request, and a request
     * whose id is null is answered. */
    METHOD_ROUTING = 1,
    /* It deals with samples: the feeds are drained first, so that none is left behind. */
    METHOD_DRAINS = 2,
};

struct method {
    const char *name;
    method_handler *handle;
    const struct param *params;
    size_t param_count;
    unsigned traits; /* of enum method_trait */
};

/* NULL when there is none. */
const struct method *method_find(const char *name);

#endif
