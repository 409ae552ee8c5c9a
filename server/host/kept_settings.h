/*
 * kept_settings.h - what a user has asked of processes and of programs (`isoscope ctl`), kept over a restart
 * of the service.
 *
 *   protocol -> kept_settings -> a file in the user's folder of state
 *   start, each process that comes -> kept_settings_look -> profile
 *
 * A process is one pid that started at one moment after one start of the machine. A program is a path, or
 * the last part of one. What a process was given holds before what its program was.
 *
 * Ownership  Borrows profile and folder.
 * Threads    The service thread.
 * Errors     0 or -ISOSCOPE_NO_MEMORY. A file that cannot be read or written is said on stderr; settings
 *            hold until the service ends.
 */
#ifndef ISOSCOPE_KEPT_SETTINGS_H
#define ISOSCOPE_KEPT_SETTINGS_H

#include "../../protocol/service.h"

struct kept_settings;
struct profile;

/* folder: "": nothing is kept. Fills in what of the keeper is its. */
int kept_settings_new(struct kept_settings **out, const char *folder,
                      struct service_keeper *keeper);
/* What an earlier service has kept. */
void kept_settings_begin(struct kept_settings *kept, struct profile *profile);
/* There may be other processes than the last time. */
void kept_settings_look(struct kept_settings *kept);
void kept_settings_free(struct kept_settings *kept); /* NULL is fine */

#endif
