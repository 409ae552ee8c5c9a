/*
 * serve.h - the service of one run, in a process of its own: whatever happens to it, the program
 * and its exit status are not touched.
 *
 *   run --fork--> serve: port, info file -> READY -> STARTED -> feeds, clients -> ENDED -> the end
 *
 * It is isoscope's child, beside the program, and bears the name SERVE_NAME. When isoscope itself
 * is gone it ends.
 *
 * Errors     Said on stderr. STATUS_STALLED is none: a loop stalled for as long as the options forbid.
 */
#ifndef ISOSCOPE_SERVE_H
#define ISOSCOPE_SERVE_H

#include "recording.h"
#include "service_host.h"
#include "../push/push_options.h"

#include <limits.h>
#include <stdbool.h>

#define SERVE_NAME "isoscope-serve"

enum { SERVE_SOCKET_BYTES = 108 }; /* what a sockaddr_un holds */

struct serve_options {
    struct service_host_options host; /* all but feed_path */
    struct recording_options recording;
    struct push_options push;
    bool keep;                       /* serve on after the program has ended */
    bool quiet;                      /* no listening line */
    bool ends_with_input;            /* standard input's: that of saved files only */
    bool stats;                      /* tell what the sampling did when the program has ended */
    const char *service_info;        /* file to write, or NULL */
    char socket[SERVE_SOCKET_BYTES]; /* that host.socket points to: absolute */
    char source_root[PATH_MAX];      /* that host.profile.source_root points to */
};

struct serve_plan {
    const struct serve_options *options;
    const char *program;   /* as the user named it */
    const char *feed_path; /* where programs hand in their feeds */
    int link;              /* to isoscope (link.h) */
    int output;            /* pieces of the program's output; -1: it is not captured */
};

/* In the forked process, as long as the service is needed. Returns its exit status; link and output
 * are closed by then, or by the process's end. */
int serve(const struct serve_plan *plan);

#endif
