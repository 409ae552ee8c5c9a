/*
 * params.h - the one place where parameters are checked, before any handler runs.
 *
 * What a client gets wrong is answered with the VM's words:
 *     getStack expects the 'isolateId' parameter
 *     getStack: invalid 'limit' parameter: abc
 *
 * Ownership  Values are lent by the request, and by the table of isolates until its next refresh.
 */
#ifndef ISOSCOPE_PARAMS_H
#define ISOSCOPE_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client;
struct method;
struct reply;
struct request;
union method_params;

enum param_kind {
    PARAM_ABSENT,        /* must not be there */
    PARAM_ISOLATE,       /* const struct isolate *: "isolates/1234" */
    PARAM_ISOLATE_GROUP, /* const struct process_info *: "isolateGroups/1234" */
    PARAM_INT64,         /* int64_t; "" is not given */
    PARAM_UNSIGNED,      /* int64_t, not negative; "" is not given */
    PARAM_BOOL,          /* bool */
    PARAM_STRING,        /* const char * */
    PARAM_WORD,          /* an enum of generated/words.h: the index in words */
    PARAM_LIST,          /* json_t *: a list, or "[a, b]" */
    PARAM_OBJECT,        /* json_t *: as it was sent */
};

struct param {
    const char *name;
    enum param_kind kind;
    bool required;
    size_t offset;            /* of its value in union method_params */
    int64_t missing;          /* the value of an optional one that is not given; pointers: NULL */
    const char *const *words; /* NULL at the end */
};

enum params_checked {
    PARAMS_GOOD,
    PARAMS_ANSWERED, /* the isolate is gone: reply holds a Sentinel, and that is no error */
    PARAMS_FAILED,   /* client->failure says why */
};

enum params_checked params_check(struct client *client, struct request *request,
                                 const struct method *method, union method_params *out,
                                 struct reply *reply);

#endif
