/*
 * serve_words.h - options of every command that serves, and of every one that records.
 *
 * Rows for a struct serve_options (serve.h), which stays where it is: its texts are pointed to.
 */
#ifndef ISOSCOPE_SERVE_WORDS_H
#define ISOSCOPE_SERVE_WORDS_H

#include "../console/option_table.h"

extern const struct option_rows
    own_sample_words; /* what threads sample of themselves: allocations, waits */
extern const struct option_rows clock_words;     /* how often is sampled, and what */
extern const struct option_rows naming_words;    /* where names and source come from */
extern const struct option_rows listen_words;    /* where the service listens */
extern const struct option_rows client_words;    /* who may come in, and what he may do */
extern const struct option_rows recording_words; /* a session file, and how it is rotated */

/* Takers for rows of others: a file's name into a const char *; a folder as profile.source_root of
 * a struct serve_options. */
int serve_take_file(void *field, const char *path, char *error, size_t error_size);
int serve_take_source_root(void *options, const char *path, char *error, size_t error_size);

struct serve_options;

/* What no row by itself can see. 0 or -ISOSCOPE_INVALID. */
int serve_words_agree(const struct serve_options *options, char *error, size_t error_size);

#endif
