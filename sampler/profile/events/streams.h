/*
 * streams.h - the streams (categories) of events that programs have used, and which are recorded.
 *
 *   control.h (which are wanted) -> streams -> intake (a program's mask)
 *
 * Ownership  Names live as long as the streams.
 * Threads    Any; one lock.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_STREAMS_H
#define ISOSCOPE_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct streams;

/* What there is no room for is not listed, and is as all that are not known. */
enum { STREAMS_MAX = 1024 };

/* Those of every program are there, and all is recorded. */
int streams_new(struct streams **out);
void streams_free(struct streams *streams); /* NULL is fine */

/* A program has it: it is listed from now on. Returns whether it is recorded. */
bool streams_meet(struct streams *streams, const char *name);
bool streams_recorded(struct streams *streams, const char *name);
/* Only these, and with others all that is not known yet. */
int streams_record(struct streams *streams, const char *const *names, size_t count, bool others);
/* Grows when what is recorded changes. */
uint64_t streams_version(struct streams *streams);
/* As profile_timeline_streams. */
size_t streams_list(struct streams *streams, const char **out, size_t capacity);

#endif
