#include "modules.h"

#include "elf_image.h"
#include "runtimes.h"
#include "start_objects.h"

#include "../../feed/feed_count.h"
#include "../../include/isoscope/isoscope.h"
#include "../system/maps.h"
#include "../system/pages.h"

#include <string.h>

enum { FILES_FIRST = 64, IMAGES_FIRST = 64, CHUNK_BYTES = 16 * 1024 };

struct path_chunk {
    struct path_chunk *before;
    uint32_t used;
    char text[CHUNK_BYTES - sizeof(struct path_chunk *) - sizeof(uint64_t)];
};
static_assert(sizeof(struct path_chunk) == CHUNK_BYTES, "whole pages");
static_assert((int)MAPS_PATH_BYTES < CHUNK_BYTES / 2, "a path finds room in a new one");

/* Not for the stack of a tick. */
struct scan_memory {
    struct maps_reader reader;
    char path[MAPS_PATH_BYTES];
    struct elf_scratch elf;
};

static SIGNAL_SAFE size_t images_bytes(uint32_t room)
{
    return room * sizeof(struct module_image);
}

static SIGNAL_SAFE size_t files_bytes(uint32_t room)
{
    return room * sizeof(struct loaded_file);
}

static SIGNAL_SAFE bool list_new(struct image_list *list)
{
    list->room = IMAGES_FIRST;
    list->items = pages_new(images_bytes(list->room));
    return list->items != NULL;
}

static SIGNAL_SAFE bool list_grow(struct image_list *list)
{
    void *items =
        list->room < MODULES_IMAGES_MAX
            ? pages_grow(list->items, images_bytes(list->room), images_bytes(2 * list->room))
            : NULL;

    if (!items)
        return false;
    list->items = items;
    list->room *= 2;
    return true;
}

static SIGNAL_SAFE bool grow_files(struct modules *modules)
{
    void *files = modules->files_room < FEED_MODULES_MAX
                      ? pages_grow(modules->files, files_bytes(modules->files_room),
                                   files_bytes(2 * modules->files_room))
                      : NULL;

    if (!files)
        return false;
    modules->files = files;
    modules->files_room *= 2;
    return true;
}

void modules_new_of(struct modules *modules, const struct modules_target *target)
{
    modules->tables.first_page = NULL;
    modules->scan = NULL;
    modules_new(modules);
    modules->target = *target;
}

void modules_new(struct modules *modules)
{
    struct shared_tables tables = modules->tables; /* a forked child's is open */
    struct scan_memory *scan = modules->scan;      /* and has memory already */

    memset(modules, 0, sizeof *modules);
    modules->tables = tables;
    modules->scan = scan;
    modules->file_count = 1;
}

/* A program that ends before its first tick needs none. */
static SIGNAL_SAFE bool has_memory(struct modules *modules)
{
    if (!modules->files && (modules->files = pages_new(files_bytes(FILES_FIRST))))
        modules->files_room = FILES_FIRST;
    if (!modules->scan)
        modules->scan = pages_new(sizeof *modules->scan);
    return modules->files && modules->scan &&
           (modules->images.items || list_new(&modules->images)) &&
           (modules->images_next.items || list_new(&modules->images_next));
}

static SIGNAL_SAFE void free_scan(struct modules *modules)
{
    pages_free(modules->scan, sizeof *modules->scan);
    modules->scan = NULL;
}

static SIGNAL_SAFE void free_paths(struct modules *modules)
{
    while (modules->paths) {
        struct path_chunk *before = modules->paths->before;

        pages_free(modules->paths, CHUNK_BYTES);
        modules->paths = before;
    }
}

void modules_free(struct modules *modules)
{
    code_maps_free(&modules->maps);
    pages_free(modules->files, files_bytes(modules->files_room));
    free_paths(modules);
    pages_free(modules->images.items, images_bytes(modules->images.room));
    pages_free(modules->images_next.items, images_bytes(modules->images_next.room));
    jit_areas_free(&modules->jit);
    jit_areas_free(&modules->jit_next);
    free_scan(modules);
    memset(modules, 0, sizeof *modules);
}

static SIGNAL_SAFE bool same_file(const struct maps_line *line, const struct module_image *image)
{
    return line->inode == image->inode && line->dev_major == image->dev_major &&
           line->dev_minor == image->dev_minor;
}

/* An image's mappings follow each other in the file as in memory. V8 maps a piece of its own file
 * once more, beside the code that it makes: that piece is none of the image's. */
static SIGNAL_SAFE bool belongs(const struct maps_line *line, const struct module_image *image)
{
    return same_file(line, image) && line->offset >= image->offset;
}

/* lld gives each segment pages of its own in memory, and none in the file: all segments of a small
 * file are mapped from its first page. The ELF head tells them from a second image of the file. */
static SIGNAL_SAFE bool maps_first_page_again(const struct modules *modules,
                                              const struct maps_line *line,
                                              const struct module_image *image)
{
    struct elf_image elf;

    return belongs(line, image) &&
           elf_image_read(&elf, &modules->scan->elf, modules->target.process.other, image->start) &&
           elf_image_holds(&elf, line->start, line->end);
}

/* A mapping of a file's beginning may be the head of an ELF image; the kernel's vdso is one too.
 * open: the image whose mappings came last, or NULL. */
static SIGNAL_SAFE bool begins_image(const struct modules *modules, const struct maps_line *line,
                                     const struct module_image *open)
{
    return line->readable && line->offset == 0 &&
           (line->inode != 0 || !strcmp(line->path, "[vdso]")) &&
           !(open && maps_first_page_again(modules, line, open));
}

static SIGNAL_SAFE void take_line(struct module_image *image, const struct maps_line *line)
{
    image->end = line->end;
    image->offset = line->offset;
    if (!line->executable || image->range_count == MODULE_RANGES_MAX)
        return;
    image->ranges[image->range_count].start = line->start;
    image->ranges[image->range_count].end = line->end;
    image->ranges[image->range_count].offset = line->offset;
    image->range_count++;
}

static const struct module_image *find_image(const struct modules *modules,
                                             const struct module_image *wanted)
{
    for (uint32_t i = 0; i < modules->image_count; i++) {
        const struct module_image *image = &modules->images.items[i];

        if (image->start == wanted->start && image->end == wanted->end &&
            image->inode == wanted->inode && image->dev_major == wanted->dev_major &&
            image->dev_minor == wanted->dev_minor &&
            !memcmp(image->ranges, wanted->ranges, sizeof image->ranges))
            return image;
    }
    return NULL;
}

static SIGNAL_SAFE bool same_identity(const struct loaded_file *file,
                                      const struct module_image *image,
                                      const struct feed_module *feed, const char *path)
{
    return file->inode == image->inode && file->dev_major == image->dev_major &&
           file->dev_minor == image->dev_minor &&
           file->feed.build_id_bytes == feed->build_id_bytes &&
           !memcmp(file->feed.build_id, feed->build_id, FEED_BUILD_ID_MAX) &&
           !strcmp(file->path, path);
}

/* A copy, which the next one overwrites unless it is added to used; NULL: there is no memory. */
static const char *keep_path(struct modules *modules, const char *path)
{
    size_t bytes = strlen(path) + 1;
    struct path_chunk *chunk = modules->paths;

    if (!chunk || bytes > sizeof chunk->text - chunk->used) {
        chunk = pages_new(CHUNK_BYTES);
        if (!chunk)
            return NULL;
        chunk->before = modules->paths;
        modules->paths = chunk;
    }
    return memcpy(chunk->text + chunk->used, path, bytes);
}

/* The number of the file behind an image; 0 when there is no room for another. */
static SIGNAL_SAFE uint32_t file_number(struct modules *modules, struct feed_writer *writer,
                                        const struct module_image *image,
                                        const struct feed_module *feed, const char *path)
{
    const char *kept;

    for (uint32_t i = 1; i < modules->file_count; i++)
        if (same_identity(&modules->files[i], image, feed, path))
            return i;
    if ((modules->file_count == modules->files_room && !grow_files(modules)) ||
        !(kept = keep_path(modules, path))) {
        if (writer)
            feed_count(&writer->header->status.lost[FEED_LOSS_MODULES_FULL], 1);
        return 0;
    }
    if (writer && feed_writer_module_add(writer, feed, path) != modules->file_count)
        return 0; /* counted there */
    modules->files[modules->file_count] = (struct loaded_file){ .inode = image->inode,
                                                                .dev_major = image->dev_major,
                                                                .dev_minor = image->dev_minor,
                                                                .path = kept,
                                                                .feed = *feed };
    modules->paths->used += (uint32_t)strlen(kept) + 1;
    modules->tables_to_come++;
    return modules->file_count++;
}

void modules_announce(struct modules *modules, struct feed_writer *writer)
{
    for (uint32_t i = 1; i < modules->file_count; i++)
        feed_writer_module_add(writer, &modules->files[i].feed, modules->files[i].path);
}

/* Everything about an image that is not in /proc/self/maps. */
static SIGNAL_SAFE void learn_image(struct modules *modules, struct feed_writer *writer,
                                    struct module_image *image, const char *path)
{
    struct feed_module feed = { .start = image->start, .end = image->end };
    struct elf_image elf;

    if (!elf_image_read(&elf, &modules->scan->elf, modules->target.process.other, image->start))
        return;
    image->bias = feed.bias = elf.bias;
    feed.build_id_bytes = elf.build_id_bytes;
    memcpy(feed.build_id, elf.build_id, sizeof feed.build_id);
    image->number = file_number(modules, writer, image, &feed, path);
    image->permanent =
        !modules->target.process.other && start_objects_hold(image->start, image->end);
}

/* An image is complete: keeps it when it has code. */
static SIGNAL_SAFE void finish_image(struct modules *modules, struct feed_writer *writer,
                                     struct module_image *image, const char *path, uint32_t *count,
                                     bool *changed)
{
    const struct module_image *known;

    if (!image->range_count ||
        (*count == modules->images_next.room && !list_grow(&modules->images_next)))
        return;
    known = find_image(modules, image);
    if (known) {
        *image = *known;
    } else {
        learn_image(modules, writer, image, path);
        *changed = true;
    }
    modules->images_next.items[(*count)++] = *image;
}

/* Fills images_next. Returns how many. */
static SIGNAL_SAFE uint32_t scan_maps(struct modules *modules, struct feed_writer *writer,
                                      bool *changed)
{
    struct scan_memory *memory = modules->scan;
    char *path = memory->path;
    struct module_image image = { 0 };
    struct maps_line line;
    uint32_t count = 0;
    bool open = false;

    while (maps_next(&memory->reader, &line)) {
        bool begins = begins_image(modules, &line, open ? &image : NULL);

        if (open && (begins || (line.inode && !belongs(&line, &image)))) {
            finish_image(modules, writer, &image, path, &count, changed);
            open = false;
        }
        if (!open && begins) {
            size_t bytes = strlen(line.path) + 1;

            memset(&image, 0, sizeof image);
            image.start = line.start;
            image.inode = line.inode;
            image.dev_major = line.dev_major;
            image.dev_minor = line.dev_minor;
            memcpy(path, line.path, bytes < MAPS_PATH_BYTES ? bytes : MAPS_PATH_BYTES);
            path[MAPS_PATH_BYTES - 1] = 0;
            open = true;
        }
        /* .bss has no inode and no code; another file's mapping closed the image above. */
        if (open && belongs(&line, &image))
            take_line(&image, &line);
        else
            jit_areas_take(&modules->jit_next, &line);
    }
    if (open)
        finish_image(modules, writer, &image, path, &count, changed);
    return count;
}

/* Of any image mapped now. */
static bool any_is(const struct modules *modules, bool (*is)(const char *path))
{
    for (uint32_t i = 0; i < modules->image_count; i++) {
        uint32_t number = modules->images.items[i].number;

        if (number && is(modules->files[number].path))
            return true;
    }
    return false;
}

static SIGNAL_SAFE uint32_t number_in_map(const struct modules *modules,
                                          const struct module_image *image)
{
    return image->number ? image->number + modules->target.numbers_from : 0;
}

/* A piece of a file that is put elsewhere is that file's, too. */
static SIGNAL_SAFE void name_piece(const struct modules *modules, const struct jit_area *area,
                                   struct code_range *out)
{
    for (uint32_t i = 0; area->inode && i < modules->image_count; i++) {
        const struct module_image *image = &modules->images.items[i];

        if (image->inode != area->inode || image->dev_major != area->dev_major ||
            image->dev_minor != area->dev_minor)
            continue;
        for (uint32_t r = 0; r < image->range_count; r++) {
            uint64_t in_range = area->offset - image->ranges[r].offset;

            if (area->offset < image->ranges[r].offset ||
                in_range >= image->ranges[r].end - image->ranges[r].start)
                continue;
            out->bias = image->bias + area->start - (image->ranges[r].start + in_range);
            out->number = number_in_map(modules, image);
            return;
        }
    }
}

/* Those below an address, from *next on. A dlclose takes nothing from them. */
static SIGNAL_SAFE void put_areas(const struct modules *modules, struct code_map *map,
                                  uint32_t *next, uint64_t below)
{
    const struct jit_areas *jit = &modules->jit;

    for (; *next < jit->count && jit->areas[*next].start < below; (*next)++) {
        struct code_range *range = &map->ranges[map->count++];

        *range = (struct code_range){ .start = jit->areas[*next].start,
                                      .end = jit->areas[*next].end,
                                      .permanent = true,
                                      .by_frame_pointer = true };
        name_piece(modules, &jit->areas[*next], range);
    }
}

bool modules_publish(struct modules *modules)
{
    struct code_map *map =
        code_map_new(modules->image_count * MODULE_RANGES_MAX + modules->jit.count);
    uint32_t area = modules->jit.wanted ? 0 : modules->jit.count;

    if (!map)
        return false;
    map->unloads = modules->unloads;
    map->by_frame_pointer = modules->jit.wanted;
    map->trampolines = modules->jit.wanted && any_is(modules, runtime_has_trampolines);
    map->changes_stacks = modules->jit.wanted && any_is(modules, runtime_changes_stacks);
    map->unloads_now = &modules->maps.unloads;
    for (uint32_t i = 0; i < modules->image_count; i++) {
        const struct module_image *image = &modules->images.items[i];
        const struct loaded_file *file = image->number ? &modules->files[image->number] : NULL;

        for (uint32_t r = 0; r < image->range_count; r++) {
            put_areas(modules, map, &area, image->ranges[r].start);
            map->ranges[map->count++] =
                (struct code_range){ .start = image->ranges[r].start,
                                     .end = image->ranges[r].end,
                                     .bias = image->bias,
                                     .number = number_in_map(modules, image),
                                     .permanent = image->permanent,
                                     .table_to_come = file && !file->table_known,
                                     .table = file ? file->table : NULL };
        }
    }
    put_areas(modules, map, &area, UINT64_MAX);
    code_map_publish(&modules->maps, map);
    return true;
}

static SIGNAL_SAFE bool still_there(const struct modules *modules, const struct module_image *image,
                                    uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (modules->images_next.items[i].start == image->start &&
            modules->images_next.items[i].number == image->number)
            return true;
    return false;
}

static SIGNAL_SAFE bool any_went(const struct modules *modules, uint32_t next_count)
{
    for (uint32_t i = 0; i < modules->image_count; i++)
        if (!still_there(modules, &modules->images.items[i], next_count))
            return true;
    return false;
}

bool modules_refresh(struct modules *modules, struct feed_writer *writer)
{
    uint32_t unloads = atomic_load_explicit(&modules->maps.unloads, memory_order_acquire);
    const struct code_map *current = atomic_load(&modules->maps.current);
    struct image_list swap;
    struct jit_areas swap_jit;
    struct jit_process process = modules->target.process;
    uint32_t count;
    bool changed = !modules->started || (current && current->unloads != unloads);

    if (!has_memory(modules) || maps_open(&modules->scan->reader, process.other) < 0)
        return false;
    if (writer && !process.other)
        process =
            (struct jit_process){ 0, writer->header->head.pid, writer->header->head.start_us };
    jit_areas_begin(&modules->jit_next, &process);
    count = scan_maps(modules, writer, &changed);
    maps_close(&modules->scan->reader);
    if (process.other)
        free_scan(modules);
    changed |= any_went(modules, count);
    swap = modules->images;
    modules->images = modules->images_next;
    modules->images_next = swap;
    modules->image_count = count;
    modules->jit_next.wanted |= any_is(modules, runtime_keeps_frame_pointers);
    changed |= !jit_areas_equal(&modules->jit, &modules->jit_next);
    swap_jit = modules->jit;
    modules->jit = modules->jit_next;
    modules->jit_next = swap_jit;
    modules->started = true;
    modules->unloads = unloads;
    if (changed)
        modules_publish(modules);
    return changed;
}

void modules_set_table(struct modules *modules, uint32_t number, const struct unwind_table *table)
{
    modules->files[number].table = table;
    modules->files[number].table_known = true;
    modules->tables_to_come--;
}

/* False: the service has not said. */
static SIGNAL_SAFE bool take_table(struct modules *modules, uint32_t number,
                                   const struct feed_module *told)
{
    struct loaded_file *file = &modules->files[number];
    uint64_t at = told ? atomic_load_explicit(&told->table_at, memory_order_acquire) : 0;
    uint32_t bytes;

    if (!at)
        return false;
    bytes = atomic_load_explicit(&told->table_bytes, memory_order_relaxed);
    modules_set_table(modules, number,
                      at == FEED_TABLE_NONE ? NULL
                                            : shared_tables_map(&modules->tables, at, bytes));
    modules->table_bytes += file->table ? bytes : 0;
    file->feed.table_at = at; /* for forked children's feeds */
    return true;
}

bool modules_take_tables(struct modules *modules, struct feed_writer *writer)
{
    bool any = false;

    if (!modules->tables_to_come)
        return false;
    for (uint32_t number = 1; number < modules->file_count; number++)
        if (!modules->files[number].table_known)
            any |= take_table(modules, number, feed_writer_module(writer, number));
    if (any)
        modules_publish(modules);
    return any;
}

void modules_forget_tables(struct modules *modules, struct feed_writer *writer)
{
    shared_tables_close(&modules->tables);
    for (uint32_t number = 1; number < modules->file_count; number++) {
        struct feed_module *told = feed_writer_module(writer, number);

        modules->files[number].feed.table_at = 0; /* a place in that file */
        if (told && !modules->files[number].table_known)
            atomic_store_explicit(&told->table_at, 0, memory_order_relaxed);
    }
}

void modules_reclaim(struct modules *modules)
{
    code_map_reclaim(&modules->maps);
}
