#include "process_memory.h"

#include "generated/words.h"
#include "isolates.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

/* "55d0-55d4 r-xp 0001 08:01 42   /usr/bin/cat": true, and what is behind. */
static bool is_header(const char *line, const char **path)
{
    uint64_t start, end;
    int at = 0;

    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", &start, &end, &at) < 2 || !at)
        return false;
    *path = line + at;
    return true;
}

/* JSON has no way for other bytes: such a path counts under what is left of it. */
static void add(struct sums *sums, const char *path, uint64_t bytes)
{
    enum kind kind = kind_of(path);
    json_auto_t *name = isolate_text(path);
    const char *key = json_string_value(name);

    sums->bytes[kind] += bytes;
    if (kind == FILES && bytes && key)
        json_object_set_new(sums->files, key,
                            json_integer(json_integer_value(json_object_get(sums->files, key)) +
                                         (json_int_t)bytes));
}

static void read_all(FILE *file, struct sums *sums)
{
    char *line = NULL, *owner = NULL;
    size_t size = 0;
    ssize_t length;

    while ((length = getline(&line, &size, file)) > 0) {
        const char *path;
        uint64_t kib;

        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        if (is_header(line, &path)) {
            free(owner);
            owner = strdup(path);
        } else if (owner && sscanf(line, "Rss: %" SCNu64 " kB", &kib) == 1) {
            add(sums, owner, kib * 1024);
        }
    }
    free(owner);
    free(line);
}

static json_t *node(const char *name, const char *description, uint64_t size, json_t *children)
{
    return json_pack("{s:o, s:o, s:I, s:o}", "name", isolate_text(name), "description",
                     isolate_text(description), "size", (json_int_t)size, "children", children);
}

static json_int_t size_of(const json_t *one)
{
    return json_integer_value(json_object_get(one, "size"));
}

/* Keeps the list in order: the largest first. */
static void insert(json_t *list, json_t *one)
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

        insert(list, node(slash && slash[1] ? slash + 1 : path, path,
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

json_t *process_memory_tree(const char *smaps, const char *name, const char *description)
{
    json_auto_t *files = json_object();
    struct sums sums = { .files = files };
    json_t *children = json_array();
    FILE *file = fopen(smaps, "re");

    if (file) {
        read_all(file, &sums);
        fclose(file);
    }
    for (int kind = 0; kind < KIND_COUNT; kind++)
        if (sums.bytes[kind])
            insert(children, node(kinds[kind].name, kinds[kind].description, sums.bytes[kind],
                                  kind == FILES ? file_nodes(files) : json_array()));
    return process_memory_node(name, description, children);
}
