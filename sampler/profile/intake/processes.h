/*
 * processes.h - the processes of a profile: which there are, their ids, and what all are told.
 *
 *   collector (enters, drains, ends them) -> processes -> profile.h and snapshot.h (show them)
 *
 * Ownership  The list owns its processes. It borrows the stores.
 * Threads    One lock, inside. What is marked ROUND is for the holder of the collector's round
 *            alone: only there the list changes, so there a process may be used without the lock.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_PROCESSES_H
#define ISOSCOPE_PROCESSES_H

#include "process.h"

struct processes;

int processes_new(struct processes **out, const struct stores *stores, struct event_store *events,
                  const struct feed_settings *settings);
void processes_free(struct processes *processes); /* NULL is fine */

/* ROUND. Gives the process its id and its owner. Takes it over, also on failure. */
int processes_enter(struct processes *processes, struct process *process);
/* ROUND. In order of arrival; NULL at the end. */
struct process *processes_at(struct processes *processes, size_t number);
/* ROUND. Copies what others are shown. ended: its feed is drained and goes. */
void processes_update(struct processes *processes, struct process *process, bool ended);

/* What the service has heard of it. */
struct process_hints {
    bool replaced;     /* another program has its pid */
    bool exit_awaited; /* how it ended will be told */
};
struct process_hints processes_hints(struct processes *processes, const struct process *process);
/* A new program has this pid. False: there is no other that may have been it before. */
bool processes_suspect(struct processes *processes, int32_t pid);
bool processes_any_live(struct processes *processes);
/* As in profile.h. */
void processes_await_exit(struct processes *processes, int32_t pid);
void processes_exited(struct processes *processes, const struct profile_exit *end);

/* As in snapshot.h. */
struct profile_cpu processes_cpu(struct processes *processes);
size_t processes_list(struct processes *processes, struct process_info *out, size_t capacity);
bool processes_find(struct processes *processes, uint64_t process_id, struct process_info *out);
uint64_t processes_version(struct processes *processes);
/* Adds the modules that its samples have met. */
void processes_met(struct processes *processes, uint64_t process_id, struct module_set *out);
void processes_clear(struct processes *processes, uint64_t process_id);
void processes_clear_thread(struct processes *processes, uint64_t process_id, int32_t tid);
void processes_clear_events(struct processes *processes, uint64_t process_id);
/* Events that programs lost, those that are remembered no longer too. */
uint64_t processes_lost_events(struct processes *processes);
/* False: no such process. */
bool processes_states(struct processes *processes, uint64_t process_id, int32_t tid,
                      uint64_t counts[OWNER_STATES]);
size_t processes_threads(struct processes *processes, uint64_t process_id,
                         struct profile_thread *out, size_t capacity);
struct feed_settings processes_settings(struct processes *processes);
/* Those of one process, which may have some of its own. */
struct feed_settings processes_settings_of(struct processes *processes,
                                           const struct process *process);
bool processes_apply_own(struct processes *processes, uint64_t process_id,
                         const struct process_settings *settings);
void processes_apply(struct processes *processes, const struct feed_settings *settings);

/* Of a session: what is written to it, and put back out of it. */
struct process_saved {
    struct process_info info; /* live, name and samples are not put back */
    bool execed;              /* it went on as another program: one process of both */
    struct module_set met;    /* module_set_free */
};

/* One that has ended. It gets its id, or a free one like it. Lends its owner of samples. */
int processes_restore(struct processes *processes, const struct process_saved *saved,
                      struct owner **owner);
/* Lends its owner of events. NULL: no such process. */
struct owner *processes_event_owner(struct processes *processes, uint64_t process_id);
/* The same of samples of any kind. */
struct owner *processes_owner(struct processes *processes, uint64_t process_id,
                              enum sample_kind kind);
/* The session says more of one that was put back. */
void processes_restore_again(struct processes *processes, uint64_t process_id,
                             const struct process_saved *saved);
/* After all of them: the CPU time of all, those among it that are not listed. */
void processes_restore_cpu(struct processes *processes, const struct profile_cpu *total);
/* Adds to out->met. False: no such process. */
bool processes_saved(struct processes *processes, uint64_t process_id, struct process_saved *out);

#endif
