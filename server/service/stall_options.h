/*
 * stall_options.h - the options about stalls, of every command that runs a program.
 *
 *   words -> struct stall_options -> the profile's stall settings (service_host), stall_watch.h
 *
 * Rows for a struct serve_options (serve.h), which stays where it is: its texts are pointed to.
 */
#ifndef ISOSCOPE_STALL_OPTIONS_H
#define ISOSCOPE_STALL_OPTIONS_H

#include "../console/option_table.h"

#include "../../sampler/profile/stalls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stall_options {
    struct stall_settings settings;
    const char *watch;   /* a word of FEED_WATCHES, for the program's environment */
    uint32_t fail_ms;    /* a stall of this length makes the run fail; 0: none does */
    const char *command; /* to run for each stall that is told; NULL: none */
};

extern const struct option_rows stall_words;
extern const struct option_rows
    stall_limit_words; /* of these, which loops are watched, and from when on they are late */

/* One of stall_limit_words. */
bool stall_options_are_given(const struct stall_options *options);

/* What no row by itself can see, and what one option means for another. 0 or -ISOSCOPE_INVALID. */
int stall_options_agree(struct stall_options *options, char *error, size_t error_size);

#endif
