#include "process_memory.h"

#include "../generated/words.h"
#include "../text/any_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Kinds of mappings; files are children of theirs, each with all its mappings. */
enum kind { HEAP, STACK, ANONYMOUS, SHARED, FILES, KERNEL, KIND_COUNT };

static const struct {
    const char *name, *description;
} kinds[KIND_COUNT] = {
    [HEAP] = { "Heap", "What grew by brk" },
    [STACK] = { "Stack", "The first thread's stack" },
    [ANONYMOUS] = { "Anonymous", "Mapped memory without a file: large allocations, other stacks" },
    [SHARED] = { "Shared", "Memory that processes share: memfd, shm" },
    [FILES] = { "Files", "Programs, libraries and other mapped files" },
    [KERNEL] = { "Kernel", "Pages that the kernel lends: vdso and the like" },
};

struct sums {
    uint64_t bytes[KIND_COUNT];
    json_t *files; /* path -> bytes */
};

static enum kind kind_of(const char *path)
{
    if (!*path || !strncmp(path, "[anon", 5))
        return ANONYMOUS;
    if (!strcmp(path, "[heap]"))
        return HEAP;
    if (!strcmp(path, "[stack]"))
        return STACK;
    if (*path == '[')
        return KERNEL;
    if (!strncmp(path, "/memfd:", 7) || !strncmp(path, "/dev/shm/", 9) ||
        !strncmp(path, "/SYSV", 5) || !strncmp(path, "/dev/zero", 9))
        return SHARED;
    return FILES;
}

/* JSON has no way for other bytes: such a path counts under what is left of it. */
static void add_mapping(void *context, const char *path, uint64_t bytes)
{
    struct sums *sums = context;
    enum kind kind = kind_of(path);
    json_auto_t *name = any_text(path);
    const char *key = json_string_value(name);

    sums->bytes[kind] += bytes;
    if (kind == FILES && bytes && key)
        json_object_set_new(sums->files, key,
                            json_integer(json_integer_value(json_object_get(sums->files, key)) +
                                         (json_int_t)bytes));
}

static json_t *node(const char *name, const char *description, uint64_t size, json_t *children)
{
    return json_pack("{s:o, s:o, s:I, s:o}", "name", any_text(name), "description",
                     any_text(description), "size", (json_int_t)size, "children", children);
}

static json_int_t size_of(const json_t *one)
{
    return json_integer_value(json_object_get(one, "size"));
}

/* Keeps the list in order: the largest first. */
static void insert_by_size(json_t *list, json_t *one)
{
    size_t at = 0;

    while (at < json_array_size(list) && size_of(json_array_get(list, at)) >= size_of(one))
        at++;
    json_array_insert_new(list, at, one);
}

static json_t *file_nodes(json_t *files)
{
    json_t *list = json_array(), *bytes;
    const char *path;

    json_object_foreach(files, path, bytes)
    {
        const char *slash = strrchr(path, '/');

        insert_by_size(list, node(slash && slash[1] ? slash + 1 : path, path,
                                  (uint64_t)json_integer_value(bytes), json_array()));
    }
    return list;
}

json_t *process_memory_node(const char *name, const char *description, json_t *children)
{
    uint64_t size = 0;
    json_t *child;
    size_t i;

    json_array_foreach(children, i, child) size += (uint64_t)size_of(child);
    return node(name, description, size, children);
}

json_t *process_memory_tree(struct profile *profile, const struct process_info *process)
{
    json_auto_t *files = json_object();
    struct sums sums = { .files = files };
    json_t *children = json_array();
    char name[40];

    profile_mappings(profile, process->id, add_mapping, &sums);
    for (int kind = 0; kind < KIND_COUNT; kind++)
        if (sums.bytes[kind])
            insert_by_size(children,
                           node(kinds[kind].name, kinds[kind].description, sums.bytes[kind],
                                kind == FILES ? file_nodes(files) : json_array()));
    snprintf(name, sizeof(name), "Process %" PRId32, process->pid);
    return process_memory_node(name, process->exe, children);
}
