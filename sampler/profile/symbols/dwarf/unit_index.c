#include "unit_index.h"

#include "../../../feed/cleanup.h"
#include "../../../include/isoscope/isoscope.h"
#include "line_table.h"

#include <stdlib.h>

/* Two sorted lists on their way into one. */
struct merge {
    const struct line_rows *lines;
    const struct cuts *cuts;
    uint32_t line, cut; /* how many have begun */
};

void unit_index_free(struct unit_index *index)
{
    if (!index)
        return;
    block_search_free(&index->starts);
    free(index->rows);
    inline_tree_free(&index->tree);
    free(index);
}

size_t unit_index_bytes(const struct unit_index *index)
{
    return sizeof(*index) + block_search_bytes(&index->starts) +
           index->row_count * sizeof(*index->rows) + index->tree.count * sizeof(*index->tree.nodes);
}

static uint64_t line_start(const struct merge *merge)
{
    return merge->line < merge->lines->count ? merge->lines->rows[merge->line].start : UINT64_MAX;
}

static uint64_t cut_start(const struct merge *merge)
{
    return merge->cut < merge->cuts->count ? merge->cuts->cuts[merge->cut].start : UINT64_MAX;
}

/* The next address where something changes; UINT64_MAX: nothing does any more. */
static uint64_t next_start(const struct merge *merge)
{
    uint64_t line = line_start(merge), cut = cut_start(merge);

    return line < cut ? line : cut;
}

static struct unit_row row_at(struct merge *merge, uint64_t start)
{
    struct unit_row row = { .node = NODE_NONE };

    merge->line += line_start(merge) == start;
    merge->cut += cut_start(merge) == start;
    if (merge->cut)
        row.node = merge->cuts->cuts[merge->cut - 1].id;
    if (merge->line && !merge->lines->rows[merge->line - 1].end) {
        row.file = merge->lines->rows[merge->line - 1].file;
        row.line = merge->lines->rows[merge->line - 1].line;
    }
    return row;
}

static bool says_the_same(const struct unit_row *a, const struct unit_row *b)
{
    return a->node == b->node && a->file == b->file && a->line == b->line;
}

static int merge_rows(struct unit_index *index, const struct line_rows *lines,
                      const struct cuts *cuts)
{
    struct merge merge = { .lines = lines, .cuts = cuts };
    struct unit_row *smaller;
    uint64_t start;

    index->rows = reallocarray(NULL, (size_t)lines->count + cuts->count + 1, sizeof(*index->rows));
    if (!index->rows || block_search_reserve(&index->starts, lines->count + cuts->count) < 0)
        return -ISOSCOPE_NO_MEMORY;
    while ((start = next_start(&merge)) != UINT64_MAX) {
        struct unit_row row = row_at(&merge, start);

        if (index->row_count && says_the_same(&index->rows[index->row_count - 1], &row))
            continue;
        if (!block_search_add(&index->starts, start))
            break;
        index->rows[index->row_count++] = row;
    }
    smaller = reallocarray(index->rows, index->row_count + 1, sizeof(*smaller));
    if (smaller)
        index->rows = smaller;
    return block_search_build(&index->starts);
}

static void free_index(struct unit_index **index)
{
    unit_index_free(*index);
}

int unit_index_read(struct unit_index **out, const struct dwarf_file *file, const struct unit *unit)
{
    CLEANUP(free_index) struct unit_index *index = calloc(1, sizeof(*index));
    CLEANUP(line_rows_free) struct line_rows lines = { 0 };
    struct unit_dies dies;

    if (!index)
        return -ISOSCOPE_NO_MEMORY;
    if (unit_dies_find(&dies, file, unit) && inline_tree_read(&index->tree, &dies) < 0)
        return -ISOSCOPE_NO_MEMORY;
    if (line_rows_read(&lines, file, unit->line_table) < 0 ||
        merge_rows(index, &lines, &index->tree.by_address) < 0)
        return -ISOSCOPE_NO_MEMORY;
    cuts_free(&index->tree.by_address);
    *out = index;
    index = NULL;
    return 0;
}

const struct unit_row *unit_index_find(const struct unit_index *index, uint64_t address)
{
    uint32_t place = block_search_find(&index->starts, address);
    const struct unit_row *row;

    if (place == BLOCK_NONE)
        return NULL;
    row = &index->rows[place];
    return row->node == NODE_NONE && !row->line && !row->file ? NULL : row;
}
