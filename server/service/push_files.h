/*
 * push_files.h - session files to a receiver of profiles, once.
 *
 *   file -> profile -> windows with the times that it has (push_window) -> push_delivery, one by one
 *
 * Each file is a profile of its own: its times, its host, its program. The files are what is kept:
 * nothing is queued. Where the receiver is in trouble for too long, or the user ends it, the command
 * says how many profiles it is done with, so that another one goes on there.
 */
#ifndef ISOSCOPE_PUSH_FILES_H
#define ISOSCOPE_PUSH_FILES_H

struct serve_options;

/* options.host.files: which; options.push: where to. Returns the exit status: STATUS_OK, all was taken;
 * STATUS_REFUSED, not all; STATUS_UNSENT, not all was sent; STATUS_USAGE, a file is damaged. */
int push_files(const struct serve_options *options);

#endif
