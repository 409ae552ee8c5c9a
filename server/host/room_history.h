/*
 * room_history.h - what the service of a user had stored, over a restart: a session file for each that has
 * ended in order, in his folder of state.
 *
 *   the end -> recorder.h -> sessions/TIME.isoscope -> `isoscope ps`, which names them
 *
 * Bounds     ROOM_SESSIONS_MAX files; together they have at most as many bytes as the samples in memory may
 *            (--history), or are one.
 * Threads    The service thread.
 * Errors     Said on stderr. 0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_ROOM_HISTORY_H
#define ISOSCOPE_ROOM_HISTORY_H

#include "../../protocol/service.h"

enum { ROOM_SESSIONS_MAX = 8 };

struct profile;
struct room_history;

/* folder: of the user's state; "": nothing is kept, and there is nothing. Fills in earlier. */
int room_history_new(struct room_history **out, const char *folder, size_t bytes_max,
                     struct service_earlier *earlier);
/* All that is stored now, if there is anything. Some seconds at most are waited for names. */
void room_history_save(struct room_history *history, struct profile *profile,
                       const struct service *service);
void room_history_free(struct room_history *history); /* NULL is fine */

#endif
