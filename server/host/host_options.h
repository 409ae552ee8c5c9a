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

struct host_options {
    struct serve_options serve; /* with files: of these; else host.socket is where programs call */
    const char *admin_group;    /* NULL: root alone sees the programs of others */
    bool help;
};

/* A sentence in error. 0 or a negative isoscope_error. */
int host_options_parse(struct host_options *out, int argc, char **argv, char *error, size_t size);
void host_options_help(FILE *out);

#endif
