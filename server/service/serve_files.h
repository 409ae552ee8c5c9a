/*
 * serve_files.h - session files as the live service that they were.
 *
 *   files -> profile -> service, port -> clients, until Ctrl-C
 */
#ifndef ISOSCOPE_SERVE_FILES_H
#define ISOSCOPE_SERVE_FILES_H

struct serve_options;

/* options.host.files: which. Returns the exit status. */
int serve_files(const struct serve_options *options);

#endif
