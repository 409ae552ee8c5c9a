/*
 * process.h - one program that feeds, or has fed, the profile: who it is, and its feed.
 *
 *   collector (owns the list, its lock and the rounds) -> process -> feed/feed_reader.h
 *
 * Ownership  A process owns its reader, until its feed has ended, and its part of the store's
 *            owners.
 * Threads    process_new and process_free: whoever holds the collector's round. Fields say the
 *            rest.
 * Errors     0, -ISOSCOPE_NO_MEMORY, or what feed_reader_open says.
 */
#ifndef ISOSCOPE_PROCESS_H
#define ISOSCOPE_PROCESS_H

#include "../base/map64.h"
#include "../events/event_store.h"
#include "../loops/cpu_rule.h"
#include "../naming/symbolizer.h"
#include "../naming/perf_map.h"
#include "../naming/registry.h"
#include "../outside/held_clock.h"
#include "../outside/held_faults.h"
#include "../outside/process_place.h"
#include "../outside/same_program.h"
#include "../outside/thread_names.h"
#include "../profile.h"
#include "../runtimes/finder.h"
#include "../store/stores.h"
#include "../unwinding/table_store.h"
#include "../wall/rounds.h"
#include "code_frames.h"
#include "lock_names.h"
#include "module_places.h"
#include "module_set.h"
#include "sampling_events.h"

struct process_events;
struct loop_subject;
struct watcher;

/* A thread slot of the feed, as it was last seen. */
struct process_slot {
    uint32_t generation;
    struct owner_thread *threads[SAMPLE_KINDS]; /* NULL: no thread, or it left no such sample */
    struct track *track;                        /* its events; NULL: it left none */
    /* Where it was last seen asleep, in the profile's frames. asleep_depth 0: nowhere. */
    uint64_t *asleep;
    uint32_t asleep_depth;
    uint8_t asleep_end;
    uint32_t asleep_tag; /* in the feed */
};

struct process {
    uint64_t id;
    int32_t pid, ppid;
    char exe[512];
    int64_t start_us;
    int pidfd; /* readable when it is dead; -1: there is none */
    bool dead; /* it was so before it could be watched */
    struct owners owners;
    struct live_set *live;      /* round only, to be made; NULL: no allocation was sampled */
    uint32_t allocations_freed; /* round only: what it was when the set was last swept */
    struct owner *event_owner;
    struct owner *service_owner; /* of the service's events on it, for which nobody remembers it */
    struct feed_reader *reader;  /* collector's lock; NULL: ended */
    struct subject *wall;        /* wall mode's view of it, with the reader; NULL: none */
    struct loop_subject *loops;  /* the watcher's; NULL: none */

    /* collector's lock */
    struct process_settings own; /* where they are given */
    int64_t end_us;
    uint64_t end_number; /* as in snapshot.h */
    bool replaced;       /* another program has its pid */
    bool started;        /* it is our own child: its exit will be told */
    bool exit_known;
    int wait_status;
    uint64_t corrupt;
    uint64_t unstored; /* the owners', when it was last updated */
    uint64_t losses;   /* round only: of all causes, when it was last looked at */
    struct feed_status_view status;
    struct module_set met;   /* modules that its samples met */
    uint32_t runtimes;       /* runtimes.h */
    uint32_t shown_runtimes; /* the same: frames of these are shown */
    char unknown_runtime[RUNTIME_REASON_BYTES];
    struct process_place place;

    /* round only */
    struct held_clock clock;
    struct held_faults faults;
    struct program_proof proof;
    struct thread_names thread_names;
    struct cpu_rule cpu_rule;
    struct module_set met_now; /* those that it met since met was written */
    uint32_t runtimes_now;
    int64_t ended_us;    /* when its end was first seen; 0: it was not */
    bool execed;         /* it ended by exec: its CPU clock ran on in another program */
    uint64_t before_ns;  /* what earlier programs had used of the CPU clock; told at its entry */
    uint64_t impossible; /* samples with a time that cannot be */
    /* Many programs end before either is asked for: NULL until then. */
    struct module_places places;
    struct module_numbers {
        uint16_t *numbers; /* 0: not known yet */
        uint32_t room;
    } modules[2]; /* the feed's numbers, and the rounds' -> profile's */
    bool *told;   /* by feed's number: the program knows where its table lies */
    uint32_t told_room;
    uint32_t told_below;     /* all below are told */
    struct map64 names;      /* feed's place -> profile's number */
    struct lock_names locks; /* that are in no module */
    struct code_frames codes;
    struct runtime_looks looks;    /* for runtimes whose frames are to be shown */
    uint32_t runtimes_shown;       /* so many of its places the registry knows */
    struct process_events *events; /* NULL: none came yet */
    struct sampling_told sampling; /* in events */
    struct perf_map *perf_map;     /* NULL: no pc was in no module yet */
    int64_t round_us;              /* when the round began, as it were: it only ever grows */
    struct process_slot *slots;
    uint32_t slot_count;
};

/* Takes over memfd. The id is given later, when it is known what else is there. */
int process_new(struct process **out, int memfd, const struct profile_peer *peer);
/* It has ended and is drained: gives back all that only a live one needs. */
void process_retire(struct process *process);
void process_free(struct process *process); /* NULL is fine */

/* Ended itself, said that nothing more comes, or became another program by exec. replaced: a copy.
 */
bool process_has_ended(struct process *process, bool replaced, int64_t now_us);
/* Switches its clocks as the settings want. */
void process_follow_clock(struct process *process, const struct feed_settings *settings,
                          int64_t now_us);
/* Threads that do not tick, in the feed by the names that they have now. */
void process_follow_names(struct process *process, const struct feed_settings *settings,
                          int64_t now_us);
/* In each round: what the watcher hears of it. */
void process_watch_loops(struct process *process, struct watcher *watcher, bool ended,
                         int64_t now_us);
/* What its feed says, and what is known here of its clocks. */
void process_status(const struct process *process, struct feed_status_view *out);

/* The frame with the profile's module number. False: it lies in the sampler itself. */
bool process_frame(struct process *process, uint64_t feed_frame, struct registry *registry,
                   struct symbolizer *symbolizer, uint64_t *out);

/* What was waited for, as a frame: the data of a module, or an address of its own. */
uint64_t process_lock_frame(struct process *process, const struct feed_wait_words *words,
                            struct registry *registry, struct symbolizer *symbolizer);

/* Tells the program where unwind tables lie that have been built since. */
void process_tell_tables(struct process *process, struct table_store *tables);

/* Tells the program of the runtimes in it, as soon as they can be found; not before somebody wants their
 * frames. */
void process_find_runtimes(struct process *process, struct runtime_finder *finder,
                           struct registry *registry, const struct feed_settings *settings,
                           int64_t now_us);

/* The profile's number of a name in the feed; 0: none. */
uint32_t process_name(struct process *process, uint32_t place, struct names *names);

/* The slot's place for its thread; NULL: out of memory. */
struct process_slot *process_slot(struct process *process, uint32_t slot);
/* Its thread has no more to tell: what it told as slices ends then. */
void process_slot_release(struct process *process, struct process_slot *slot, int64_t at_us);

void process_describe(const struct process *process, struct owner_counts counts,
                      struct process_info *out);

#endif
