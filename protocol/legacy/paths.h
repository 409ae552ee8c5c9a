/*
 * paths.h - the different stacks of a snapshot, function by function: what the old methods' trees
 * are made of.
 *
 *   snapshot -> paths_begin, paths_gather (each once, and its samples) -> path_walk
 *
 * A path is a row of entries, the root first. An entry is a function's index, or behind the
 * functions a tag: "Root", which begins each path, then those that were asked for. It is 12 bytes
 * and no row: the row is read from the snapshot when it is looked at.
 *
 * Ownership  Refers to the snapshot, which has to stay. All zeros is empty; paths_free ends it.
 * Errors     0 or -ISOSCOPE_NO_MEMORY.
 */
#ifndef ISOSCOPE_PATHS_H
#define ISOSCOPE_PATHS_H

#include "../generated/words.h"
#include "../text/tags.h"
#include "../../sampler/profile/snapshot.h"

enum path_direction {
    PATH_DOWN, /* from the thread's first function to the leaf */
    PATH_UP,   /* from the leaf */
};

enum { PATH_STATES = 256 };

struct path {
    uint32_t place;   /* of one of its samples: snapshot_stack */
    uint32_t samples; /* how many it has */
    uint32_t tags;    /* of those that were asked for: user tag << 8 | state */
};

struct paths_known;

struct paths {
    struct snapshot *snapshot;
    uint32_t cursor;           /* of the samples, while they are gathered */
    struct paths_known *known; /* NULL: all are gathered */
    enum profile_tags wanted;
    const struct snapshot_function *functions;
    const struct snapshot_frame *frames;
    const struct snapshot_library *libraries;
    uint32_t function_count;
    struct path *list;
    uint32_t count;
    uint32_t longest;              /* entries of the longest path; at least that of the root */
    struct tags tags;              /* [0] is "Root"; all that samples have, asked for or not */
    uint32_t vm_tags[PATH_STATES]; /* by state: number in tags; 0: no sample has it */
};

int paths_begin(struct paths *paths, struct snapshot *snapshot, enum profile_tags wanted);
/* 1: call again. */
int paths_gather(struct paths *paths, int64_t *work);
void paths_free(struct paths *paths);

/* Fills out, where there is room for longest; returns how many entries it has. */
uint32_t paths_read(const struct paths *paths, const struct path *path,
                    enum path_direction direction, uint32_t *out);

/* A place in the tree by what leads to it: the same in every walk. parent: 0 for the root. It has 53
 * bits, so that a client may take it for a number. Of 10 million profiles with 40,000 places, one
 * has two places with the same id. */
uint64_t path_id(uint64_t parent, uint32_t entry);
/* Of the sample's leaf, in a tree without tags from the root down. */
uint64_t path_id_of(const struct paths *paths, const struct snapshot_sample *sample);

#endif
