#include "scope_map.h"

#include "../../../feed/cleanup.h"
#include "../../../include/isoscope/isoscope.h"
#include "abbrevs.h"
#include "../../base/grow.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_PER_SIGNPOST = 64, NONE = UINT32_MAX };

struct name_space {
    uint64_t place;
    uint32_t around; /* another one, or NONE */
    uint32_t level;  /* in how many others it is */
};

/* Before a DIE that only namespaces are around. */
struct signpost {
    uint64_t place;
    uint32_t inside; /* a namespace, or NONE */
};

struct scope_map {
    struct abbrevs abbrevs;
    struct name_space *spaces;
    uint32_t space_count, space_capacity;
    struct signpost *posts; /* by place */
    uint32_t post_count, post_capacity;
};

/* Where a walk is. */
struct walk {
    const struct unit_dies *dies;
    struct cursor cursor;
    struct scope_parent parents[SCOPE_PARENTS_MAX]; /* those that a name shows */
    uint32_t depths[SCOPE_PARENTS_MAX];             /* of these */
    uint32_t count, depth;
};

static bool is_shown(uint16_t tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_subprogram || tag == DW_TAG_class_type ||
           tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

static struct walk walk_from(const struct unit_dies *dies, uint64_t place)
{
    struct bytes bytes = { dies->info.at, dies->header.end };

    return (struct walk){ .dies = dies, .cursor = cursor_of(bytes, place) };
}

static uint64_t place_of(const struct walk *walk)
{
    return (uint64_t)(walk->cursor.at - walk->dies->info.at);
}

static void leave(struct walk *walk)
{
    walk->depth -= walk->depth > 0;
    if (walk->count && walk->depths[walk->count - 1] == walk->depth)
        walk->count--;
}

static void enter(struct walk *walk, uint64_t place, uint16_t tag)
{
    if (is_shown(tag) && walk->count < SCOPE_PARENTS_MAX) {
        walk->depths[walk->count] = walk->depth;
        walk->parents[walk->count++] = (struct scope_parent){ place, tag };
    }
    walk->depth++;
}

/* One DIE, and all in it where the wanted one is not among it. wanted NULL: namespaces are wanted.
 */
static void step(struct walk *walk, const struct abbrevs *abbrevs, const uint64_t *wanted)
{
    uint64_t place = place_of(walk), code = cursor_uleb(&walk->cursor), sibling;
    const struct abbrev *abbrev = abbrevs_find(abbrevs, code);

    if (!code) {
        leave(walk);
        return;
    }
    if (!abbrev) {
        cursor_fail(&walk->cursor);
        return;
    }
    sibling = abbrevs_skip(abbrevs, abbrev, &walk->cursor, &walk->dies->header);
    if (sibling > place_of(walk) && (wanted ? sibling <= *wanted : abbrev->tag != DW_TAG_namespace))
        walk->cursor.at = walk->dies->info.at + sibling;
    else if (abbrev->children)
        enter(walk, place, abbrev->tag);
}

/* A walk over all namespaces. */
struct survey {
    struct walk walk;
    struct scope_map *map;
    uint32_t inside[SCOPE_PARENTS_MAX]; /* of the walk's parents: the namespace, or NONE */
};

/* The one that the walk is in, with nothing else around; NONE: there is none. */
static uint32_t innermost(const struct survey *survey, uint32_t count)
{
    return count ? survey->inside[count - 1] : NONE;
}

static int note_entered(struct survey *survey)
{
    struct scope_map *map = survey->map;
    uint32_t at = survey->walk.count - 1, around = innermost(survey, at);
    struct scope_parent entered = survey->walk.parents[at];

    survey->inside[at] = NONE;
    if (entered.tag != DW_TAG_namespace || (at && around == NONE))
        return 0;
    if (!GROW(map->spaces, map->space_count, map->space_capacity))
        return -ISOSCOPE_NO_MEMORY;
    survey->inside[at] = map->space_count;
    map->spaces[map->space_count++] = (struct name_space){ entered.place, around, at };
    return 0;
}

/* The unit's own DIE is around everything. */
static bool only_namespaces_around(const struct survey *survey)
{
    const struct walk *walk = &survey->walk;

    return walk->depth == walk->count + 1 &&
           (!walk->count || innermost(survey, walk->count) != NONE);
}

static int add_signpost(struct survey *survey)
{
    struct scope_map *map = survey->map;

    if (!GROW(map->posts, map->post_count, map->post_capacity))
        return -ISOSCOPE_NO_MEMORY;
    map->posts[map->post_count++] =
        (struct signpost){ place_of(&survey->walk), innermost(survey, survey->walk.count) };
    return 0;
}

static int survey_unit(struct survey *survey)
{
    struct walk *walk = &survey->walk;
    uint64_t steps = 0; /* since the last signpost */

    while (cursor_left(&walk->cursor)) {
        uint32_t count = walk->count;

        if (++steps >= STEPS_PER_SIGNPOST && only_namespaces_around(survey)) {
            steps = 0;
            if (add_signpost(survey) < 0)
                return -ISOSCOPE_NO_MEMORY;
        }
        step(walk, &survey->map->abbrevs, NULL);
        if (walk->count > count && note_entered(survey) < 0)
            return -ISOSCOPE_NO_MEMORY;
    }
    return 0;
}

static void free_map(struct scope_map **map)
{
    scope_map_free(*map);
}

int scope_map_read(struct scope_map **out, const struct unit_dies *dies)
{
    CLEANUP(free_map) struct scope_map *map = calloc(1, sizeof(*map));
    const struct unit_header *unit = &dies->header;
    struct survey survey = { .walk = walk_from(dies, unit->die), .map = map };

    if (!map || abbrevs_read(&map->abbrevs, dies->abbrev, unit->abbrevs, &unit->shape) < 0 ||
        survey_unit(&survey) < 0)
        return -ISOSCOPE_NO_MEMORY;
    *out = map;
    map = NULL;
    return 0;
}

void scope_map_free(struct scope_map *map)
{
    if (!map)
        return;
    abbrevs_free(&map->abbrevs);
    free(map->spaces);
    free(map->posts);
    free(map);
}

size_t scope_map_bytes(const struct scope_map *map)
{
    return sizeof(*map) + abbrevs_bytes(&map->abbrevs) +
           map->space_capacity * sizeof(*map->spaces) + map->post_capacity * sizeof(*map->posts);
}

/* The last one that is not behind the place; NULL: there is none. */
static const struct signpost *last_signpost(const struct scope_map *map, uint64_t place)
{
    uint32_t low = 0, high = map->post_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (map->posts[middle].place <= place)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &map->posts[low - 1] : NULL;
}

static struct walk walk_from_signpost(const struct scope_map *map, const struct unit_dies *dies,
                                      const struct signpost *post)
{
    struct walk walk = walk_from(dies, post->place);
    uint32_t inside = post->inside;

    walk.count = inside == NONE ? 0 : map->spaces[inside].level + 1;
    walk.depth = walk.count + 1;
    for (uint32_t i = walk.count; i-- > 0; inside = map->spaces[inside].around) {
        walk.parents[i] = (struct scope_parent){ map->spaces[inside].place, DW_TAG_namespace };
        walk.depths[i] = i + 1;
    }
    return walk;
}

uint32_t scope_map_find(const struct scope_map *map, const struct unit_dies *dies, uint64_t place,
                        struct scope_parent out[SCOPE_PARENTS_MAX])
{
    const struct signpost *post = last_signpost(map, place);
    struct walk walk =
        post ? walk_from_signpost(map, dies, post) : walk_from(dies, dies->header.die);

    if (place < dies->header.die || place >= dies->header.end)
        return 0;
    while (!walk.cursor.failed && place_of(&walk) < place)
        step(&walk, &map->abbrevs, &place);
    if (walk.cursor.failed || place_of(&walk) != place)
        return 0;
    memcpy(out, walk.parents, walk.count * sizeof(*out));
    return walk.count;
}
