/*
 * options.h - the options of `isoscope run` and `isoscope record`: one row each, in options.c.
 *
 * Ownership  Strings point into argv, or into struct run_options itself: it stays where it is.
 * Errors     options_parse returns 0 or -ISOSCOPE_INVALID, with a sentence in error that names
 *            the option, what was given, and what would be right. It prints nothing itself.
 */
#ifndef ISOSCOPE_OPTIONS_H
#define ISOSCOPE_OPTIONS_H

#include "../service/serve.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct run_options {
    struct serve_options serve;   /* all that the service needs to know */
    const char *timer;            /* a word of FEED_TIMER_WISHES */
    bool no_runtimes, gil, tasks; /* what becomes of the profile's settings.wants */
    unsigned runtime_options;     /* 1: those that name its code are put into its environment */
    bool capture_output;          /* clients get what the program writes */
    bool help;                    /* only the help was asked for; program is NULL */
    char output[NAME_MAX + 1];    /* that serve.recording.path points to, where none is given */
    char **program;               /* PROGRAM ARGS... NULL */
};

/* argv[0] is the command's own name: "run" or "record". */
int options_parse(struct run_options *out, int argc, char **argv, char *error, size_t error_size);

/* The help text of that command. */
void options_help(const char *word, FILE *out);

#endif
