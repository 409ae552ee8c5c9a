/*
 * methods.h - the methods there are: their parameters, where the checked values go, who answers.
 *
 * generated/methods.c has a row for each, generated/methods.h a struct of its parameters and its
 * handler's prototype; both are made from schemas/methods. A handler never looks at the request:
 * params.h has checked everything by the row and filled the struct in.
 */
#ifndef ISOSCOPE_METHODS_H
#define ISOSCOPE_METHODS_H

#include <stddef.h>

struct client;
struct param;
struct reply;
union method_params; /* generated/methods.h */

/* 0, or what answer.h says. */
typedef int method_call(struct client *client, const union method_params *params,
                        struct reply *reply);

enum method_trait {
    /* In the VM its router answers these itself: errors do not echo the request, and a request
     * whose id is null is answered. */
    METHOD_ROUTING = 1,
    /* It deals with samples: the feeds are drained first, so that none is left behind. */
    METHOD_DRAINS = 2,
};

struct method {
    const char *name;
    method_call *call;
    const struct param *params;
    size_t param_count;
    unsigned traits; /* of enum method_trait */
};

extern const struct method methods[];
extern const size_t method_count;

/* NULL when there is none. */
const struct method *method_find(const char *name);

#endif
