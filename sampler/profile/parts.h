/*
 * parts.h - what a profile is made of, for profile.c and snapshot.c alone.
 */
#ifndef ISOSCOPE_PARTS_H
#define ISOSCOPE_PARTS_H

#include "registry.h"
#include "namer.h"
#include "store.h"

struct profile {
    struct store *store;
    struct registry *registry;
    struct namer *namer;
    struct processes *processes;
    struct collector *collector;
};

#endif
