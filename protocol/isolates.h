/*
 * isolates.h - the only place that maps processes to the wire's isolates.
 *
 *   process 1234 of /usr/bin/python3.11 -> isolates/1234 "python3.11:main()" in isolateGroups/1234
 *
 * The name contains ":main(" because clients choose their main isolate by it.
 *
 * An isolate is there while its process lives, and after that while the store holds samples of it:
 * a compiler's child lives for milliseconds, and nobody could read it otherwise. The first process
 * stays in any case: getVM tells its pid, and clients cannot connect to a service without isolates.
 *
 * Ownership  The table lends its processes until the next isolates_refresh. JSON is new.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_ISOLATES_H
#define ISOSCOPE_ISOLATES_H

#include "../sampler/profile/snapshot.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_list {
    struct process_info *items;
    size_t count, capacity;
};

struct isolates {
    struct process_list now, before; /* before: of the last refresh */
};

/* kind: an event of the stream Isolate. */
typedef void isolates_changed(void *context, const char *kind, const struct process_info *process);

/* Looks at the profile and tells who came and went. 0 or -ISOSCOPE_NO_MEMORY. */
int isolates_refresh(struct isolates *isolates, struct profile *profile, isolates_changed *changed,
                     void *context);
void isolates_free(struct isolates *isolates);

/* NULL when there is none. */
const struct process_info *isolates_first(const struct isolates *isolates);
const struct process_info *isolates_find(const struct isolates *isolates, int64_t number);
/* The isolates after process (NULL: the first of all); NULL at the end. */
const struct process_info *isolates_next(const struct isolates *isolates,
                                         const struct process_info *process);

json_t *isolate_ref(const struct process_info *process);          /* @Isolate */
json_t *isolate_group_ref(const struct process_info *process);    /* @IsolateGroup */
json_t *isolate_root_library(const struct process_info *process); /* @Library: the executable */

/* Text that may hold any bytes, as a JSON string. */
json_t *isolate_text(const char *bytes);

#endif
