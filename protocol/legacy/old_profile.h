/*
 * old_profile.h - what VMs before 3.27 answered: the service builds the trees, not the client.
 *
 *   snapshot -> paths -> path_walk -> _CpuProfile (old_profile.c: tries as lists of numbers),
 *                                     _CpuProfileTimeline (old_timeline.c)
 *
 * Piece by piece, as all replies with samples; a reply costs 12 bytes for each different stack.
 *
 * Ownership  Both take over the snapshot, also when they fail; the envelope is copied.
 * Threads    The service thread.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_OLD_PROFILE_H
#define ISOSCOPE_OLD_PROFILE_H

#include "../generated/words.h"
#include "../isolates/isolates.h"
#include "../rpc/reply_stream.h"
#include "../../sampler/profile/snapshot.h"

/* envelope: the reply's text before the value of "result"; "}" is put behind.
 * tags: which tags stand between the root and the stacks. */
int old_profile_new(struct reply_stream **out, struct snapshot *snapshot, const char *envelope,
                    enum profile_tags tags);
int old_timeline_new(struct reply_stream **out, struct snapshot *snapshot, const char *envelope,
                     const struct isolate *isolate);

/* What both replies begin with; the window's, not the request's. */
void old_profile_head(struct json_text *text, const char *envelope, const struct snapshot *snapshot,
                      const char *type);

#endif
