/*
 * isolates.h - the only place that maps processes and threads to the wire's isolates.
 *
 *   process 1234 of /usr/bin/python3.11 -> isolates/1234 "python3.11:main()" in isolateGroups/1234
 *   its thread 1235 "worker" -> isolates/1235000001234 "worker (1235)" in the same group
 *
 * The whole process is one isolate, and thread_isolates.h chooses threads that are others. The
 * first name contains ":main(" because clients choose their main isolate by it; where several
 * processes would have the same name, their pids follow. Numbers stay below 2^53, so that clients
 * may keep them in doubles.
 *
 * The main process is the first of getVM, which tells its pid and memory. It is the one that the
 * user started. Where that went on as another program, the living image is meant. When it has
 * ended, another that lives takes its place. When none lives, the image with most samples does.
 *
 * An isolate is there while its process lives, and after that while the store holds samples of it:
 * a compiler's child lives for milliseconds, and nobody could read it otherwise. The main process
 * stays in any case: clients cannot connect to a service without isolates. getVM lists isolates
 * that live or left samples enough. A shell script has a hundred children with a sample each: they
 * are asked for by their ids.
 *
 * Ownership  The table lends its processes and isolates until the next isolates_refresh. JSON is
 *            new.
 * Threads    The service thread.
 */
#ifndef ISOSCOPE_ISOLATES_H
#define ISOSCOPE_ISOLATES_H

#include "thread_isolates.h"
#include "../../sampler/profile/snapshot.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_list {
    struct process_info *items;
    size_t count, capacity;
};

enum { ISOLATE_NAME_MAX = 127 };

struct isolate {
    const struct process_info *process;
    int32_t tid; /* 0: the whole process */
    uint64_t number;
    bool shown; /* in getVM's lists */
    char name[ISOLATE_NAME_MAX + 1];
};

struct isolate_label;

/* The shown processes by name, to see which names repeat. */
struct process_names {
    const struct process_info **items;
    size_t count, capacity;
};

struct isolates {
    uint64_t version;                /* of the profile, as of now; 0: never looked */
    struct process_list now, before; /* before: of the last refresh that found something new */
    struct process_names names, names_before;
    const struct process_info *main; /* NULL: there is none */
    uint64_t samples, others;        /* of all processes, in the stores */
    struct thread_isolates threads, threads_before;
    struct isolate *items; /* of processes, the main one first, then what lives; then of threads */
    size_t count, capacity;
    struct isolate_label *labels; /* names that clients gave */
};

/* kind: an event of the stream Isolate. */
typedef void isolates_changed(void *context, const char *kind, const struct isolate *isolate);

/* Looks at the profile, if it has changed, and tells who came and went. 0 or -ISOSCOPE_NO_MEMORY.
 */
int isolates_refresh(struct isolates *isolates, struct profile *profile, isolates_changed *changed,
                     void *context);
void isolates_free(struct isolates *isolates);

/* NULL when there is none. */
const struct process_info *isolates_main(const struct isolates *isolates);
const struct process_info *isolates_group(const struct isolates *isolates, int64_t number);
const struct isolate *isolates_find(const struct isolates *isolates, int64_t number);
/* When the first of them came up, before which nothing was sampled; now_us: none has. */
int64_t isolates_start_us(const struct isolates *isolates, int64_t now_us);
/* The processes that can be asked for, in order of arrival, after process (NULL: the first of all);
 * NULL at the end. */
const struct process_info *isolates_next(const struct isolates *isolates,
                                         const struct process_info *process);

/* Gives it another name, of at most ISOLATE_NAME_MAX bytes, for all clients. 0 or
 * -ISOSCOPE_NO_MEMORY. */
int isolates_set_name(struct isolates *isolates, const struct isolate *isolate, const char *name);

/* A list of @Isolate: of one process, or (NULL) of all that getVM lists, or of all that it does
 * not. */
json_t *isolate_refs(const struct isolates *isolates, const struct process_info *process);
json_t *isolate_refs_unshown(const struct isolates *isolates);
json_t *isolate_ref(const struct isolate *isolate);            /* @Isolate */
json_t *isolate_group_ref(const struct process_info *process); /* @IsolateGroup */
/* Where on its machine it lives: _Place, and that for people. NULL: nowhere in particular. */
json_t *isolate_place(const struct process_info *process);
json_t *isolate_place_label(const struct process_info *process);
json_t *isolate_root_library(const struct process_info *process); /* @Library: the executable */
/* Adds how it ended (_Exit) where that is known, by this name. Takes over object; NULL when out of
 * memory. */
json_t *isolate_with_exit(json_t *object, const char *name, const struct process_info *process);

#endif
