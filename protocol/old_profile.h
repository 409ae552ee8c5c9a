/*
 * old_profile.h - what VMs before 3.27 answered: the service builds the trees, not the client.
 *
 *   snapshot -> call_trie -> _CpuProfile (tries as lists of numbers), _CpuProfileTimeline
 *
 * The text is whole before it is sent: these are for old clients, which know nothing better.
 *
 * Errors     NULL when out of memory. The text is the caller's, who frees it.
 */
#ifndef ISOSCOPE_OLD_PROFILE_H
#define ISOSCOPE_OLD_PROFILE_H

#include "generated/words.h"
#include "isolates.h"
#include "../sampler/profile/snapshot.h"

/* tags: which tags stand between the root and the stacks. */
char *old_profile_text(struct snapshot *snapshot, enum profile_tags tags);
char *old_timeline_text(struct snapshot *snapshot, const struct isolate *isolate);

#endif
