/*
 * process.h - one program that feeds, or has fed, the profile: who it is, and its feed.
 *
 *   collector (owns the list, its lock and the rounds) -> process -> feed/reader.h
 *
 * Ownership  A process owns its reader, until its feed has ended, and its part of the store's
 * owners. Threads    process_new and process_free: whoever holds the collector's round. Fields say
 * the rest. Errors     0, -ISOSCOPE_NO_MEMORY, or what feed_reader_open says.
 */
#ifndef ISOSCOPE_PROCESS_H
#define ISOSCOPE_PROCESS_H

#include "held_clock.h"
#include "map64.h"
#include "module_set.h"
#include "naming/registry.h"
#include "naming/namer.h"
#include "owner.h"
#include "naming/perf_map.h"
#include "profile.h"
#include "store.h"
#include "unwinding/table_store.h"

/* A thread slot of the feed, as it was last seen. */
struct process_slot {
    uint32_t generation;
    struct owner_thread *thread; /* NULL: no thread, or not seen yet */
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
    struct owner *owner;
    struct feed_reader *reader; /* collector's lock; NULL: ended */

    /* collector's lock */
    int64_t end_us;
    bool heard_hangup;     /* its socket has ended */
    bool hung_up, goodbye; /* hung_up: or may have, as another program has its pid */
    bool replaced;         /* another program has its pid */
    bool started;          /* it is our own child: its exit will be told */
    bool exit_known;
    int wait_status;
    uint32_t hangups_owed; /* of replaced programs with the same id: not this one's */
    uint64_t corrupt;
    uint64_t losses; /* round only: of all causes, when it was last looked at */
    struct feed_status_view status;
    struct module_set met; /* modules that its samples met */

    /* round only */
    struct held_clock clock;
    struct module_set met_now; /* those that it met since met was written */
    int64_t ended_us;          /* when its end was first seen; 0: it was not */
    uint64_t impossible;       /* samples with a time that cannot be */
    uint16_t *modules;         /* feed's number -> profile's; 0: not known yet */
    bool *told;                /* by feed's number: the program knows where its table lies */
    uint32_t told_below;       /* all below are told */
    struct map64 names;        /* feed's place -> profile's number */
    struct perf_map *perf_map; /* NULL: no pc was in no module yet */
    int64_t round_us;          /* when the round began, as it were: it only ever grows */
    struct process_slot *slots;
    uint32_t slot_count;
};

/* Takes over memfd. The id is given later, when it is known what else is there. */
int process_new(struct process **out, int memfd, const struct profile_peer *peer);
/* It has ended and is drained: gives back all that only a live one needs. */
void process_retire(struct process *process);
void process_free(struct process *process); /* NULL is fine */

/* Ended itself, said goodbye, or became another program by exec. hung_up, goodbye: copies. */
bool process_has_ended(const struct process *process, bool hung_up, bool goodbye);

/* The frame with the profile's module number. False: it lies in the sampler itself. */
bool process_frame(struct process *process, uint64_t feed_frame, struct registry *registry,
                   struct namer *namer, uint64_t *out);

/* Tells the program where unwind tables lie that have been built since. */
void process_tell_tables(struct process *process, struct table_store *tables);

/* The profile's number of a name in the feed; 0: none. */
uint32_t process_name(struct process *process, uint32_t place, struct names *names);

/* The slot's place for its thread; NULL: out of memory. */
struct process_slot *process_slot(struct process *process, uint32_t slot);

void process_describe(const struct process *process, struct owner_counts counts,
                      struct process_info *out);

#endif
