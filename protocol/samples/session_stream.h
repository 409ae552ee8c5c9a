/*
 * session_stream.h - a session file on its way out as a _Session reply, as base64.
 *
 *   profile -> save_step (recorder.h) -> base64 -> buffers of any size
 *
 * Ownership  The writer owns the save, and copies envelope.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_SESSION_STREAM_H
#define ISOSCOPE_SESSION_STREAM_H

#include "../rpc/reply_stream.h"

struct save;

/* Takes over save, which waits for no names, also when it fails: -ISOSCOPE_NO_MEMORY. */
int session_stream_new(struct reply_stream **out, struct save *save, const char *envelope);

#endif
