/*
 * parts.h - what a profile is made of, for profile.c, and what snapshot.h promises.
 */
#ifndef ISOSCOPE_PARTS_H
#define ISOSCOPE_PARTS_H

#include "naming/inline_chains.h"
#include "naming/functions.h"
#include "naming/symbolizer.h"
#include "naming/registry.h"
#include "store/stores.h"
#include "unwinding/table_store.h"
#include "wall/rounds.h"

struct bell;
struct follow_tables;

struct profile {
    struct stores stores;
    struct registry *registry;
    struct functions *functions;
    struct inline_chains *chains;
    struct symbolizer *symbolizer;
    struct table_store *tables; /* NULL: programs get none */
    int tables_problem;         /* then: the errno of why */
    struct rounds *rounds;
    bool nameless;     /* options.no_symbols */
    char *source_root; /* options.source_root */
    struct bell *bell; /* NULL: nobody can ring */
    struct processes *processes;
    struct collector *collector;
    struct follow_tables *follow; /* NULL until somebody follows */
};

#endif
