#include "open_lines.h"

#include "../../include/isoscope/isoscope.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN_MAX = 64 }; /* each has descriptors and mappings too */

struct entry {
    struct module *module;
    struct lines *lines;
};

struct open_lines {
    size_t bytes_max;
    struct entry entries[OPEN_MAX]; /* last used first */
    uint32_t count;
};

int open_lines_new(struct open_lines **out, size_t bytes_max)
{
    struct open_lines *open = calloc(1, sizeof(*open));

    if (!open)
        return -ISOSCOPE_NO_MEMORY;
    open->bytes_max = bytes_max;
    *out = open;
    return 0;
}

void open_lines_free(struct open_lines *open)
{
    if (!open)
        return;
    for (uint32_t i = 0; i < open->count; i++)
        lines_close(open->entries[i].lines);
    free(open);
}

static size_t bytes_of(const struct open_lines *open)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < open->count; i++)
        bytes += lines_bytes(open->entries[i].lines);
    return bytes;
}

/* The one in use stays, however much it holds: it bounds itself. */
static void trim_open(struct open_lines *open)
{
    while (open->count > 1 && (open->count == OPEN_MAX || bytes_of(open) > open->bytes_max))
        lines_close(open->entries[--open->count].lines);
}

static struct lines *to_front(struct open_lines *open, uint32_t at)
{
    struct entry entry = open->entries[at];

    memmove(open->entries + 1, open->entries, at * sizeof(entry));
    open->entries[0] = entry;
    return entry.lines;
}

static void set_state(struct module *module, enum module_lines state, const char *reason)
{
    atomic_store_explicit(&module->lines_reason, reason, memory_order_relaxed);
    atomic_store_explicit(&module->lines, state, memory_order_release);
}

/* NULL: there are none, or no memory; nobody tries again. */
static struct lines *open_module(struct module *module, const struct module_file *file)
{
    struct lines *lines;

    if (lines_open(&lines, file) < 0) {
        set_state(module, MODULE_LINES_NONE, "out of memory while reading the lines");
        return NULL;
    }
    if (lines_reason(lines)) {
        set_state(module, MODULE_LINES_NONE, lines_reason(lines));
        lines_close(lines);
        return NULL;
    }
    set_state(module, MODULE_LINES_SOME, NULL);
    return lines;
}

struct lines *open_lines_of(struct open_lines *open, struct module *module,
                            const struct module_file *file)
{
    struct lines *lines;

    if (open->count && open->entries[0].module == module)
        return open->entries[0].lines;
    if (atomic_load_explicit(&module->lines, memory_order_relaxed) == MODULE_LINES_NONE)
        return NULL;
    trim_open(open);
    for (uint32_t i = 1; i < open->count; i++)
        if (open->entries[i].module == module)
            return to_front(open, i);
    lines = open_module(module, file);
    if (!lines)
        return NULL;
    open->entries[open->count] = (struct entry){ module, lines };
    return to_front(open, open->count++);
}
