#include "path_walk.h"

#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>

/* As many are sorted at once; more are put where they belong, one by one. */
enum { SORTED_AT_ONCE = 512, WORK_ROW = 4, WORK_ENTRY = 2 };

static uint32_t read_row(const struct path_walk *walk, uint32_t number, uint32_t *out,
                         int64_t *work)
{
    uint32_t length = paths_read(walk->paths, &walk->paths->list[number], walk->direction, out);

    work_off(work, WORK_ROW + length * WORK_ENTRY);
    return length;
}

static void free_range(struct path_range *range)
{
    free(range->keys);
    free(range->key_next);
    free(range->key_end);
    range->keys = range->key_next = range->key_end = NULL;
}

/* The paths [first, end) are the same up to depth, and there, too. */
static void begin_range(struct path_walk *walk, uint32_t first, uint32_t end, uint32_t depth)
{
    walk->at = depth;
    walk->children = 0;
    walk->ticks = 0;
    walk->stage = PATH_MEASURES;
    walk->range = (struct path_range){ .first = first, .end = end, .depth = depth, .next = first };
}

/* On from the first place where the row and one of the paths differ, or one ends. */
static bool measure(struct path_walk *walk, int64_t *work)
{
    struct path_range *range = &walk->range;

    for (; range->next<range->end && * work> 0; range->next++) {
        bool first = range->next == range->first;
        uint32_t length = read_row(walk, range->next, first ? walk->row : walk->other, work);
        uint32_t same = range->depth;

        walk->ticks += walk->paths->list[range->next].samples;
        while (!first && same < walk->parting && same < length &&
               walk->row[same] == walk->other[same])
            same++;
        walk->parting = first ? length : same;
    }
    return range->next == range->end;
}

static void begin_keys(struct path_walk *walk)
{
    struct path_range *range = &walk->range;

    range->next = range->first;
    range->key_count = walk->paths->function_count + walk->paths->tags.count + 1;
    range->keys = calloc(range->end - range->first, sizeof(*range->keys));
    walk->failed |= !range->keys;
    if (range->end - range->first > SORTED_AT_ONCE) {
        range->key_next = calloc(range->key_count, sizeof(*range->key_next));
        range->key_end = calloc(range->key_count, sizeof(*range->key_end));
        walk->failed |= !range->key_next || !range->key_end;
    }
    walk->stage = PATH_KEYS;
}

static bool find_keys(struct path_walk *walk, int64_t *work)
{
    struct path_range *range = &walk->range;

    for (; range->next<range->end && * work> 0; range->next++) {
        uint32_t length = read_row(walk, range->next, walk->other, work);
        uint32_t key = walk->parting < length ? walk->other[walk->parting] + 1 : 0;

        range->keys[range->next - range->first] = key;
        if (range->key_end)
            range->key_end[key]++;
    }
    return range->next == range->end;
}

/* What a small range is sorted by. */
struct keyed {
    uint32_t key;
    struct path path;
};

static int by_key(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;

    return a->key < b->key ? -1 : a->key > b->key;
}

static void sort_at_once(struct path_walk *walk)
{
    struct path_range *range = &walk->range;
    uint32_t count = range->end - range->first;
    struct path *list = &walk->paths->list[range->first];
    struct keyed keyed[SORTED_AT_ONCE];

    for (uint32_t i = 0; i < count; i++)
        keyed[i] = (struct keyed){ range->keys[i], list[i] };
    qsort(keyed, count, sizeof(*keyed), by_key);
    for (uint32_t i = 0; i < count; i++) {
        range->keys[i] = keyed[i].key;
        list[i] = keyed[i].path;
    }
}

/* From how many paths have a key to where they go. */
static void begin_sorting(struct path_walk *walk, int64_t *work)
{
    struct path_range *range = &walk->range;
    uint32_t at = 0;

    walk->stage = PATH_SORTS;
    range->key = 0;
    if (!range->key_end)
        return;
    for (uint32_t key = 0; key < range->key_count; key++) {
        range->key_next[key] = at;
        at += range->key_end[key];
        range->key_end[key] = at;
    }
    work_off(work, range->key_count);
}

static void swap_paths(struct path_walk *walk, uint32_t a, uint32_t b)
{
    struct path_range *range = &walk->range;
    struct path *list = &walk->paths->list[range->first], path = list[a];
    uint32_t key = range->keys[a];

    list[a] = list[b];
    range->keys[a] = range->keys[b];
    list[b] = path;
    range->keys[b] = key;
}

/* What does not stand where its key's paths do is exchanged with what does there. */
static bool sort_some(struct path_walk *walk, int64_t *work)
{
    struct path_range *range = &walk->range;

    for (; range->key < range->key_count; range->key++) {
        uint32_t *next = &range->key_next[range->key];

        while (*next < range->key_end[range->key]) {
            uint32_t key = range->keys[*next];

            if (*work <= 0)
                return false;
            work_off(work, WORK_ROW);
            if (key == range->key)
                ++*next;
            else
                swap_paths(walk, *next, range->key_next[key]++);
        }
    }
    return true;
}

static bool sort_range(struct path_walk *walk, int64_t *work)
{
    if (walk->range.key_end)
        return sort_some(walk, work);
    work_off(work, (walk->range.end - walk->range.first) * WORK_ROW * 4);
    sort_at_once(walk);
    return true;
}

/* Those that end come first; the others go on in a branch. */
static void end_range(struct path_walk *walk)
{
    struct path_range *range = &walk->range;
    uint32_t count = range->end - range->first, ended = 0;

    for (uint32_t i = 0; range->keys && i < count; i++) {
        ended += !range->keys[i];
        walk->children += range->keys[i] && (!i || range->keys[i] != range->keys[i - 1]);
    }
    if (range->keys && ended < count)
        walk->branches[walk->branch_count++] =
            (struct path_branch){ range->first + ended, range->end, walk->parting };
    free_range(range);
    walk->stage = PATH_TELLS;
}

/* The first of the branch's paths says which way; false: there is no branch left. */
static bool begin_group(struct path_walk *walk, int64_t *work)
{
    struct path_branch *branch;

    while (walk->branch_count && walk->branches[walk->branch_count - 1].next ==
                                     walk->branches[walk->branch_count - 1].end)
        walk->branch_count--;
    if (!walk->branch_count)
        return false;
    branch = &walk->branches[walk->branch_count - 1];
    walk->range.first = branch->next++;
    read_row(walk, walk->range.first, walk->other, work);
    walk->range.entry = walk->other[branch->depth];
    walk->stage = PATH_GROUPS;
    return true;
}

static bool find_group(struct path_walk *walk, int64_t *work)
{
    struct path_branch *branch = &walk->branches[walk->branch_count - 1];

    for (; branch->next < branch->end; branch->next++) {
        if (*work <= 0)
            return false;
        read_row(walk, branch->next, walk->other, work);
        if (walk->other[branch->depth] != walk->range.entry)
            break;
    }
    begin_range(walk, walk->range.first, branch->next, branch->depth);
    return true;
}

/* All of a stage. False: there is no work left, or no memory. */
static bool do_stage(struct path_walk *walk, int64_t *work)
{
    const struct path_range *range = &walk->range;

    switch (walk->stage) {
    case PATH_GROUPS:
        return find_group(walk, work);
    case PATH_MEASURES:
        if (!measure(walk, work))
            return false;
        if (range->end - range->first > 1)
            begin_keys(walk);
        else
            end_range(walk);
        return !walk->failed;
    case PATH_KEYS:
        if (!find_keys(walk, work))
            return false;
        begin_sorting(walk, work);
        return true;
    default:
        if (!sort_range(walk, work))
            return false;
        work_off(work, range->end - range->first);
        end_range(walk);
        return true;
    }
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
        begin_range(walk, 0, paths->count, 0);
    } else { /* the root alone */
        walk->row[0] = paths->function_count;
        walk->parting = 1;
    }
    return 0;
}

enum path_step path_walk_next(struct path_walk *walk, struct path_node *out, int64_t *work)
{
    uint32_t at;

    if (walk->stage == PATH_TELLS && walk->at == walk->parting && !begin_group(walk, work))
        return PATH_END;
    while (walk->stage != PATH_TELLS && !walk->failed)
        if (!do_stage(walk, work) && !walk->failed)
            return PATH_WORKS;
    if (walk->failed)
        return PATH_END;
    at = walk->at++;
    out->entry = walk->row[at];
    out->ticks = walk->ticks;
    out->children = walk->at < walk->parting ? 1 : walk->children;
    out->parent_id = at ? walk->ids[at - 1] : 0;
    out->id = walk->ids[at] = path_id(out->parent_id, out->entry);
    return PATH_NODE;
}

void path_walk_free(struct path_walk *walk)
{
    free_range(&walk->range);
    free(walk->row);
    free(walk->other);
    free(walk->ids);
    free(walk->branches);
    *walk = (struct path_walk){ 0 };
}
