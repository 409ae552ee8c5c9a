#include "path_walk.h"

#include "../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>

/* What a range is sorted by: the entry where its paths part. */
struct keyed {
    uint64_t key; /* entry + 1; 0: the path ends here */
    struct path path;
};

static uint32_t read_row(const struct path_walk *walk, uint32_t number, uint32_t *out)
{
    return paths_read(walk->paths, &walk->paths->list[number], walk->direction, out);
}

/* The first place where the row and one of the paths differ, or one ends. */
static uint32_t find_parting(struct path_walk *walk, uint32_t first, uint32_t end, uint32_t depth)
{
    uint32_t parting = read_row(walk, first, walk->row);

    for (uint32_t i = first + 1; i < end; i++) {
        uint32_t length = read_row(walk, i, walk->other), same = depth;

        while (same < parting && same < length && walk->row[same] == walk->other[same])
            same++;
        parting = same;
    }
    return parting;
}

static int by_key(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;

    return a->key < b->key ? -1 : a->key > b->key;
}

/* Those that end come first. Returns how many do; children: how many ways the others go. */
static uint32_t take_back(struct path *list, const struct keyed *keyed, uint32_t count,
                          uint32_t *children)
{
    uint32_t ended = 0;

    *children = 0;
    for (uint32_t i = 0; i < count; i++) {
        list[i] = keyed[i].path;
        ended += !keyed[i].key;
        *children += keyed[i].key && (!i || keyed[i].key != keyed[i - 1].key);
    }
    return ended;
}

static uint32_t sort_range(struct path_walk *walk, uint32_t first, uint32_t end)
{
    uint32_t count = end - first, depth = walk->parting, ended;
    struct path *list = &walk->paths->list[first];
    struct keyed *keyed = calloc(count, sizeof(*keyed));

    if (!keyed) {
        walk->failed = true;
        return count;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t length = read_row(walk, first + i, walk->other);

        keyed[i].key = depth < length ? walk->other[depth] + UINT64_C(1) : 0;
        keyed[i].path = list[i];
    }
    qsort(keyed, count, sizeof(*keyed), by_key);
    ended = take_back(list, keyed, count, &walk->children);
    free(keyed);
    return ended;
}

/* The paths [first, end) are the same up to depth, and there, too. */
static void open_range(struct path_walk *walk, uint32_t first, uint32_t end, uint32_t depth)
{
    uint32_t ended = end - first;

    walk->at = depth;
    walk->children = 0;
    walk->ticks = 0;
    for (uint32_t i = first; i < end; i++)
        walk->ticks += walk->paths->list[i].samples;
    walk->parting = find_parting(walk, first, end, depth);
    if (end - first > 1)
        ended = sort_range(walk, first, end);
    if (first + ended < end)
        walk->branches[walk->branch_count++] =
            (struct path_branch){ first + ended, end, walk->parting };
}

/* Those of the branch that go the same way as its next one. False: there is no branch left. */
static bool open_next(struct path_walk *walk)
{
    struct path_branch *branch;
    uint32_t first, entry;

    while (walk->branch_count && walk->branches[walk->branch_count - 1].next ==
                                     walk->branches[walk->branch_count - 1].end)
        walk->branch_count--;
    if (!walk->branch_count)
        return false;
    branch = &walk->branches[walk->branch_count - 1];
    first = branch->next++;
    read_row(walk, first, walk->other);
    entry = walk->other[branch->depth];
    while (branch->next < branch->end) {
        read_row(walk, branch->next, walk->other);
        if (walk->other[branch->depth] != entry)
            break;
        branch->next++;
    }
    open_range(walk, first, branch->next, branch->depth);
    return true;
}

int path_walk_begin(struct path_walk *walk, struct paths *paths, enum path_direction direction)
{
    size_t longest = paths->longest;

    *walk = (struct path_walk){ .paths = paths, .direction = direction };
    walk->row = calloc(longest, sizeof(*walk->row));
    walk->other = calloc(longest, sizeof(*walk->other));
    walk->ids = calloc(longest, sizeof(*walk->ids));
    walk->branches = calloc(longest, sizeof(*walk->branches));
    if (!walk->row || !walk->other || !walk->ids || !walk->branches)
        return -ISOSCOPE_NO_MEMORY;
    if (paths->count) {
        open_range(walk, 0, paths->count, 0);
    } else { /* the root alone */
        walk->row[0] = paths->function_count;
        walk->parting = 1;
    }
    return walk->failed ? -ISOSCOPE_NO_MEMORY : 0;
}

bool path_walk_next(struct path_walk *walk, struct path_node *out)
{
    uint32_t at;

    if (walk->failed || (walk->at == walk->parting && !open_next(walk)) || walk->failed)
        return false;
    at = walk->at++;
    out->entry = walk->row[at];
    out->ticks = walk->ticks;
    out->children = walk->at < walk->parting ? 1 : walk->children;
    out->parent_id = at ? walk->ids[at - 1] : 0;
    out->id = walk->ids[at] = path_id(out->parent_id, out->entry);
    return true;
}

void path_walk_free(struct path_walk *walk)
{
    free(walk->row);
    free(walk->other);
    free(walk->ids);
    free(walk->branches);
    *walk = (struct path_walk){ 0 };
}
