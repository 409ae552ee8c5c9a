/*
 * parts.h - what a profile is made of, for profile.c, and what snapshot.h promises.
 */
#ifndef ISOSCOPE_PARTS_H
#define ISOSCOPE_PARTS_H

#include "naming/chains.h"
#include "naming/functions.h"
#include "naming/namer.h"
#include "naming/registry.h"
#include "store.h"
#include "unwinding/table_store.h"

struct live_tables;

struct profile {
    struct store *store;
    struct registry *registry;
    struct functions *functions;
    struct chains *chains;
    struct namer *namer;
    struct table_store *tables; /* NULL: programs get none */
    bool nameless;              /* options.no_symbols */
    struct processes *processes;
    struct collector *collector;
    struct live_tables *live; /* NULL until somebody reads live */
};

#endif
