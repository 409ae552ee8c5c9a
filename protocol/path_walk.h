/*
 * path_walk.h - paths as a tree, one node after the other: parents before children, and no tree.
 *
 *   paths (put in order a level at a time, as the walk comes there) -> path_walk_next -> node
 *
 * A node is a range of the paths that begin alike, so a walk costs 12 bytes a level beside the
 * paths. A step looks at each path of its range once or twice: the widest steps are the first.
 *
 * Ownership  Refers to the paths and changes their order: one walk at a time. All zeros is empty;
 *            path_walk_free ends it.
 * Errors     Out of memory sets failed, and the walk ends.
 */
#ifndef ISOSCOPE_PATH_WALK_H
#define ISOSCOPE_PATH_WALK_H

#include "paths.h"

struct path_node {
    uint32_t entry, children;
    uint64_t ticks;         /* samples that came this way */
    uint64_t id, parent_id; /* paths.h; of the root's parent: 0 */
};

/* Paths whose first depth entries are the same, and that go on. */
struct path_branch {
    uint32_t next, end; /* of the paths' list: those not walked yet */
    uint32_t depth;
};

struct path_walk {
    struct paths *paths;
    enum path_direction direction;
    uint32_t *row;        /* of the node walked last, and on, up to where paths part */
    uint64_t *ids;        /* by depth, for the row */
    uint32_t *other;      /* a row to compare with */
    uint32_t at, parting; /* of the row: the next node, and behind the last of this range */
    uint64_t ticks;       /* of the range */
    uint32_t children;    /* of its last node */
    struct path_branch *branches;
    uint32_t branch_count;
    bool failed;
};

/* 0 or -ISOSCOPE_NO_MEMORY. The first node is the root. */
int path_walk_begin(struct path_walk *walk, struct paths *paths, enum path_direction direction);
bool path_walk_next(struct path_walk *walk, struct path_node *out);
void path_walk_free(struct path_walk *walk);

#endif
