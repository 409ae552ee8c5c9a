/*
 * parts.h - what a profile is made of, for profile.c, for sessions, and what snapshot.h promises.
 */
#ifndef ISOSCOPE_PARTS_H
#define ISOSCOPE_PARTS_H

#include "naming/inline_chains.h"
#include "naming/functions.h"
#include "naming/known_chain.h"
#include "naming/symbolizer.h"
#include "naming/registry.h"
#include "store/stores.h"
#include "unwinding/table_store.h"
#include "wall/rounds.h"

struct bell;
struct runtime_finder;
struct watcher;
struct kept_loops;
struct stall_log;
struct teller;
struct event_store;
struct streams;
struct follow_tables;
struct profile_options;
struct kept_facts;
struct session_contents;

struct profile {
    struct stores stores;
    struct event_store *events;
    struct streams *streams; /* of events */
    struct stall_log *stalls;
    struct teller *teller; /* NULL: it is saved */
    struct registry *registry;
    struct functions *functions;
    struct inline_chains *chains;
    struct symbolizer *symbolizer;
    struct table_store *tables; /* NULL: programs get none */
    int tables_problem;         /* then: the errno of why */
    struct runtime_finder *finder;
    struct rounds *rounds;
    struct watcher *watcher;   /* of loops; NULL: it is saved */
    struct known_chains known; /* of these */
    char *source_root;         /* options.source_root */
    struct bell *bell;         /* NULL: nobody can ring */
    struct processes *processes;
    struct collector *collector;       /* NULL: it is saved, so are tables, rounds and bell */
    struct kept_facts *kept;           /* facts of a saved one; NULL: it is live */
    struct kept_loops *kept_loops;     /* of a saved one; NULL: its file has none, or it is live */
    struct session_contents *contents; /* what else only a saved one has */
    struct follow_tables *follow;      /* NULL until somebody follows */
    /* Ends what stands above all this, and reads it; NULL: there is nothing. */
    void (*before_free)(struct profile *profile);
    /* Called before samples are forgotten that a client wants cleared; NULL: nobody cares. */
    void (*before_clear)(void *context);
    void *before_clear_context;
};

/* What programs are told. */
struct feed_settings profile_clamped(struct feed_settings settings);
struct feed_settings profile_settings_of(const struct profile_options *options);

/* What all profiles have; options: as for a live one. On failure there is nothing to free. */
int profile_parts_new(struct profile **out, const struct profile_options *options);

#endif
