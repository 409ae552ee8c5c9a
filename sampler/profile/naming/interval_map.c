#include "interval_map.h"

#include "../../include/isoscope/isoscope.h"

#include <stdlib.h>

/* Between two neighbouring borders the same range shows everywhere: a cell. */
struct grid {
    uint64_t *borders; /* ascending, each once */
    uint32_t *shown;   /* by cell: the range; INTERVAL_NONE: not decided yet */
    uint32_t *next;    /* by cell: itself while undecided, else one further right */
    uint32_t count;
};

static const struct interval_range *range_at(const void *ranges, uint32_t stride, uint32_t number)
{
    return (const struct interval_range *)((const char *)ranges + (size_t)number * stride);
}

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

static void free_grid(struct grid *grid)
{
    free(grid->borders);
    free(grid->shown);
    free(grid->next);
}

static int make_grid(struct grid *grid, const void *ranges, uint32_t count, uint32_t stride)
{
    uint32_t borders = 0;

    grid->borders = calloc(2 * (size_t)count + 1, sizeof(*grid->borders));
    grid->shown = calloc(2 * (size_t)count + 1, sizeof(*grid->shown));
    grid->next = calloc(2 * (size_t)count + 1, sizeof(*grid->next));
    if (!grid->borders || !grid->shown || !grid->next)
        return -ISOSCOPE_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        grid->borders[borders++] = range_at(ranges, stride, i)->start;
        grid->borders[borders++] = range_at(ranges, stride, i)->end;
    }
    qsort(grid->borders, borders, sizeof(*grid->borders), by_value);
    for (uint32_t i = 0; i < borders; i++)
        if (!grid->count || grid->borders[grid->count - 1] != grid->borders[i])
            grid->borders[grid->count++] = grid->borders[i];
    for (uint32_t i = 0; i < grid->count; i++) {
        grid->shown[i] = INTERVAL_NONE;
        grid->next[i] = i;
    }
    return 0;
}

/* The first undecided cell from here on. The last border begins a cell that no range covers, so
 * there always is one. */
static uint32_t undecided(struct grid *grid, uint32_t cell)
{
    while (grid->next[cell] != cell) {
        grid->next[cell] = grid->next[grid->next[cell]];
        cell = grid->next[cell];
    }
    return cell;
}

static uint32_t cell_of(const struct grid *grid, uint64_t border)
{
    const uint64_t *found = bsearch(&border, grid->borders, grid->count, sizeof(border), by_value);

    return (uint32_t)(found - grid->borders);
}

/* The latest first: each takes what is left. */
static void decide(struct grid *grid, const void *ranges, uint32_t count, uint32_t stride)
{
    for (uint32_t i = count; i-- > 0;) {
        const struct interval_range *range = range_at(ranges, stride, i);
        uint32_t cell = undecided(grid, cell_of(grid, range->start));

        for (; grid->borders[cell] < range->end; cell = undecided(grid, cell)) {
            grid->shown[cell] = i;
            grid->next[cell] = cell + 1;
        }
    }
}

static int take_intervals(struct interval_map *map, const struct grid *grid)
{
    struct interval *list = calloc((size_t)grid->count + 1, sizeof(*list));
    uint32_t count = 0;

    if (!list)
        return -ISOSCOPE_NO_MEMORY;
    for (uint32_t i = 0; i < grid->count; i++)
        if (!count || list[count - 1].range != grid->shown[i])
            list[count++] = (struct interval){ grid->borders[i], grid->shown[i] };
    free(map->list);
    map->list = list;
    map->count = count;
    return 0;
}

int interval_map_build(struct interval_map *map, const void *ranges, uint32_t count,
                       uint32_t stride)
{
    struct grid grid = { 0 };
    int error = make_grid(&grid, ranges, count, stride);

    if (!error) {
        decide(&grid, ranges, count, stride);
        error = take_intervals(map, &grid);
    }
    free_grid(&grid);
    return error;
}

void interval_map_free(struct interval_map *map)
{
    free(map->list);
    *map = (struct interval_map){ 0 };
}

bool interval_map_find(const struct interval_map *map, uint64_t address, uint32_t *range)
{
    uint32_t low = 0, high = map->count;

    /* The last interval that starts at or before the address: low - 1. */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (map->list[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || map->list[low - 1].range == INTERVAL_NONE)
        return false;
    *range = map->list[low - 1].range;
    return true;
}
