/*
 * path_walk.h - paths as a tree, one node after the other: parents before children, and no tree.
 *
 *   paths (put in order a level at a time, as the walk comes there) -> path_walk_next -> node
 *
 * A node is a range of the paths that begin alike, so a walk costs 12 bytes a level beside the
 * paths. Where paths part, it looks at each path of the range three times; there it may need
 * several calls, and until then 4 bytes for each of them.
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

enum path_stage {
    PATH_TELLS,    /* nodes, up to where paths part */
    PATH_GROUPS,   /* looks for the end of those that go the same way */
    PATH_MEASURES, /* how far they do */
    PATH_KEYS,     /* where each goes then */
    PATH_SORTS,
};

/* Paths on their way to nodes. */
struct path_range {
    uint32_t first, end, depth;
    uint32_t next;      /* of them, in this stage */
    uint32_t entry;     /* PATH_GROUPS: theirs at depth */
    uint32_t *keys;     /* by path: the entry where they part, + 1; 0: the path ends there */
    uint32_t *key_next; /* by key: where its next path goes */
    uint32_t *key_end;
    uint32_t key_count, key;
};

struct path_walk {
    struct paths *paths;
    enum path_direction direction;
    enum path_stage stage;
    struct path_range range;
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
enum path_step { PATH_NODE, PATH_WORKS /* call again */, PATH_END };
enum path_step path_walk_next(struct path_walk *walk, struct path_node *out, int64_t *work);
void path_walk_free(struct path_walk *walk);

#endif
