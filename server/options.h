/*
 * options.h - the options of `isoscope run`.
 *
 * Units      period_us: microseconds of a thread's CPU time.
 * Ownership  Strings point into argv.
 * Errors     options_parse returns 0 or -ISOSCOPE_INVALID, with a sentence in error that names
 *            the option, what was given, and what would be right. It prints nothing itself.
 */
#ifndef ISOSCOPE_OPTIONS_H
#define ISOSCOPE_OPTIONS_H

#include "access.h"

#include "../sampler/feed/layout.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPTIONS_SOCKET_BYTES = 108 }; /* what a sockaddr_un holds */

struct run_options {
    uint16_t port;                     /* 0: a free one */
    char socket[OPTIONS_SOCKET_BYTES]; /* absolute path of a unix socket instead of a port; "": none
                                        */
    bool no_token;                     /* serve without a token in the path */
    struct access_rules access;
    bool allow_dds;            /* one client may take the place of all others */
    uint32_t rate_max;         /* requests of one client in a second */
    uint32_t patience_seconds; /* how long a client may stand still */
    bool deflate;              /* agree to permessage-deflate */
    uint32_t period_us;
    uint32_t depth_max; /* frames kept of a stack */
    enum feed_mode mode;
    uint32_t history_mib;       /* of samples kept, of all processes together */
    const char *timer;          /* a word of FEED_TIMER_WISHES */
    bool stats;                 /* tell what the sampling did when the program has ended */
    bool paused;                /* no samples until a client enables the profiler */
    bool capture_output;        /* clients get what the program writes */
    bool keep;                  /* serve on after the program has ended */
    bool debuginfod;            /* ask debuginfod servers for debug data */
    bool no_symbols;            /* serve build ids and offsets, no names */
    char source_root[PATH_MAX]; /* whose files clients may read; "": none */
    uint8_t protocol_major, protocol_minor; /* what getVersion says; 0: the protocol's own */
    bool quiet;                             /* no listening line */
    bool help;                              /* only the help was asked for; program is NULL */
    const char *service_info;               /* file to write, or NULL */
    char **program;                         /* PROGRAM ARGS... NULL */
};

/* argv[0] is the command's own name ("run"). */
int options_parse(struct run_options *out, int argc, char **argv, char *error, size_t error_size);

/* The help text of `isoscope run`. */
const char *options_help(void);

#endif
