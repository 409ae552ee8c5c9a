/*
 * host_options.h - the options of `isoscope serve`: of session files, and of a host service.
 *
 * Its texts are pointed to: the struct stays where it is.
 */
#ifndef ISOSCOPE_HOST_OPTIONS_H
#define ISOSCOPE_HOST_OPTIONS_H

#include "../service/serve.h"

#include <stdbool.h>
#include <stdio.h>

enum { HOST_STATE_BYTES = 192 };

struct host_options {
    struct serve_options serve; /* with files: of these; else host.socket is where programs call */
    const char *admin_group;    /* NULL: root alone sees the programs of others */
    char state[HOST_STATE_BYTES]; /* absolute: what outlives the service. "": nothing does */
    bool help;
};

/* A sentence in error. 0 or a negative isoscope_error. */
int host_options_parse(struct host_options *out, int argc, char **argv, char *error, size_t size);
/* What no option by itself can see; the default of the state's folder. The same for the answer. */
int host_options_agree(struct host_options *options, char *error, size_t size);
void host_options_help(FILE *out);

#endif
