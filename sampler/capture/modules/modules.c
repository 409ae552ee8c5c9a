#include "modules.h"

#include "elf_image.h"
#include "start_objects.h"

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

static size_t images_bytes(uint32_t room)
{
    return room * sizeof(struct module_image);
}

static size_t files_bytes(uint32_t room)
{
    return room * sizeof(struct loaded_file);
}

static bool list_new(struct image_list *list)
{
    list->room = IMAGES_FIRST;
    list->items = pages_new(images_bytes(list->room));
    return list->items != NULL;
}

static bool list_grow(struct image_list *list)
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

static bool grow_files(struct modules *modules)
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

int modules_new(struct modules *modules)
{
    struct shared_tables tables = modules->tables; /* a forked child's is open */

    memset(modules, 0, sizeof *modules);
    modules->tables = tables;
    modules->files_room = FILES_FIRST;
    modules->files = pages_new(files_bytes(FILES_FIRST));
    modules->file_count = 1;
    if (list_new(&modules->images) && list_new(&modules->images_next) && modules->files)
        return 0;
    modules_free(modules);
    return -ISOSCOPE_NO_MEMORY;
}

static void free_paths(struct modules *modules)
{
    while (modules->paths) {
        struct path_chunk *before = modules->paths->before;

        pages_free(modules->paths, CHUNK_BYTES);
        modules->paths = before;
    }
}

void modules_free(struct modules *modules)
{
    while (modules->maps.retired) {
        struct code_map *next = modules->maps.retired->retired_next;

        code_map_free(modules->maps.retired);
        modules->maps.retired = next;
    }
    code_map_free(atomic_exchange(&modules->maps.current, NULL));
    pages_free(modules->files, files_bytes(modules->files_room));
    free_paths(modules);
    pages_free(modules->images.items, images_bytes(modules->images.room));
    pages_free(modules->images_next.items, images_bytes(modules->images_next.room));
    jit_areas_free(&modules->jit);
    jit_areas_free(&modules->jit_next);
    memset(modules, 0, sizeof *modules);
}

static bool same_file(const struct maps_line *line, const struct module_image *image)
{
    return line->inode == image->inode && line->dev_major == image->dev_major &&
           line->dev_minor == image->dev_minor;
}

/* An image's mappings follow each other in the file as in memory. V8 maps a piece of its own file
 * once more, beside the code that it makes: that piece is none of the image's. */
static bool belongs(const struct maps_line *line, const struct module_image *image)
{
    return same_file(line, image) && line->offset >= image->offset;
}

/* lld gives each segment pages of its own in memory, and none in the file: all segments of a small
 * file are mapped from its first page. The ELF head tells them from a second image of the file. */
static bool maps_first_page_again(const struct maps_line *line, const struct module_image *image)
{
    struct elf_image elf;

    return belongs(line, image) && elf_image_read(&elf, image->start) &&
           elf_image_holds(&elf, line->start);
}

/* A mapping of a file's beginning may be the head of an ELF image; the kernel's vdso is one too.
 * open: the image whose mappings came last, or NULL. */
static bool begins_image(const struct maps_line *line, const struct module_image *open)
{
    return line->readable && line->offset == 0 &&
           (line->inode != 0 || !strcmp(line->path, "[vdso]")) &&
           !(open && maps_first_page_again(line, open));
}

static void take_line(struct module_image *image, const struct maps_line *line)
{
    image->end = line->end;
    image->offset = line->offset;
    if (!line->executable || image->range_count == MODULE_RANGES_MAX)
        return;
    image->ranges[image->range_count].start = line->start;
    image->ranges[image->range_count].end = line->end;
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

static bool same_identity(const struct loaded_file *file, const struct module_image *image,
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
static uint32_t file_number(struct modules *modules, struct segment *segment,
                            const struct module_image *image, const struct feed_module *feed,
                            const char *path)
{
    const char *kept;

    for (uint32_t i = 1; i < modules->file_count; i++)
        if (same_identity(&modules->files[i], image, feed, path))
            return i;
    if ((modules->file_count == modules->files_room && !grow_files(modules)) ||
        !(kept = keep_path(modules, path))) {
        atomic_fetch_add_explicit(&segment->header->status.lost[FEED_LOSS_MODULES_FULL], 1,
                                  memory_order_relaxed);
        return 0;
    }
    if (segment_module_add(segment, feed, path) != modules->file_count)
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

void modules_announce(struct modules *modules, struct segment *segment)
{
    for (uint32_t i = 1; i < modules->file_count; i++)
        segment_module_add(segment, &modules->files[i].feed, modules->files[i].path);
}

/* Everything about an image that is not in /proc/self/maps. */
static void learn(struct modules *modules, struct segment *segment, struct module_image *image,
                  const char *path)
{
    struct feed_module feed = { .start = image->start, .end = image->end };
    struct elf_image elf;

    if (!elf_image_read(&elf, image->start))
        return;
    image->bias = feed.bias = elf.bias;
    feed.build_id_bytes = elf.build_id_bytes;
    memcpy(feed.build_id, elf.build_id, sizeof feed.build_id);
    image->number = file_number(modules, segment, image, &feed, path);
    image->permanent = start_objects_hold(image->start, image->end);
}

/* An image is complete: keeps it when it has code. */
static void finish(struct modules *modules, struct segment *segment, struct module_image *image,
                   const char *path, uint32_t *count, bool *changed)
{
    const struct module_image *known;

    if (!image->range_count ||
        (*count == modules->images_next.room && !list_grow(&modules->images_next)))
        return;
    known = find_image(modules, image);
    if (known) {
        *image = *known;
    } else {
        learn(modules, segment, image, path);
        *changed = true;
    }
    modules->images_next.items[(*count)++] = *image;
}

/* The sampler's thread has a small stack. */
struct scan_memory {
    struct maps_reader reader;
    char path[MAPS_PATH_BYTES];
};

/* Fills images_next. Returns how many. */
static uint32_t scan(struct modules *modules, struct segment *segment, struct scan_memory *memory,
                     bool *changed)
{
    char *path = memory->path;
    struct module_image image = { 0 };
    struct maps_line line;
    uint32_t count = 0;
    bool open = false;

    while (maps_next(&memory->reader, &line)) {
        bool begins = begins_image(&line, open ? &image : NULL);

        if (open && (begins || (line.inode && !belongs(&line, &image)))) {
            finish(modules, segment, &image, path, &count, changed);
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
        finish(modules, segment, &image, path, &count, changed);
    return count;
}

/* Those below an address, from *next on. A dlclose takes nothing from them. */
static void put_areas(struct code_map *map, const struct jit_areas *jit, uint32_t *next,
                      uint64_t below)
{
    for (; *next < jit->count && jit->areas[*next].start < below; (*next)++)
        map->ranges[map->count++] = (struct code_range){ .start = jit->areas[*next].start,
                                                         .end = jit->areas[*next].end,
                                                         .permanent = true,
                                                         .by_frame_pointer = true };
}

static bool publish(struct modules *modules)
{
    struct code_map *map =
        code_map_new(modules->image_count * MODULE_RANGES_MAX + modules->jit.count);
    uint32_t area = 0;

    if (!map)
        return false;
    map->unloads = modules->unloads;
    map->by_frame_pointer = modules->jit.wanted;
    map->unloads_now = &modules->maps.unloads;
    for (uint32_t i = 0; i < modules->image_count; i++) {
        const struct module_image *image = &modules->images.items[i];
        const struct loaded_file *file = image->number ? &modules->files[image->number] : NULL;

        for (uint32_t r = 0; r < image->range_count; r++) {
            put_areas(map, &modules->jit, &area, image->ranges[r].start);
            map->ranges[map->count++] =
                (struct code_range){ .start = image->ranges[r].start,
                                     .end = image->ranges[r].end,
                                     .bias = image->bias,
                                     .number = image->number,
                                     .permanent = image->permanent,
                                     .table_to_come = file && !file->table_known,
                                     .table = file ? file->table : NULL };
        }
    }
    put_areas(map, &modules->jit, &area, UINT64_MAX);
    code_map_publish(&modules->maps, map);
    return true;
}

static bool still_there(const struct modules *modules, const struct module_image *image,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (modules->images_next.items[i].start == image->start &&
            modules->images_next.items[i].number == image->number)
            return true;
    return false;
}

static bool any_went(const struct modules *modules, uint32_t next_count)
{
    for (uint32_t i = 0; i < modules->image_count; i++)
        if (!still_there(modules, &modules->images.items[i], next_count))
            return true;
    return false;
}

bool modules_refresh(struct modules *modules, struct segment *segment)
{
    static struct scan_memory *memory;
    uint32_t unloads = atomic_load_explicit(&modules->maps.unloads, memory_order_acquire);
    const struct code_map *current = atomic_load(&modules->maps.current);
    struct image_list swap;
    struct jit_areas swap_jit;
    uint32_t count;
    bool changed = !modules->started || (current && current->unloads != unloads);

    if ((!memory && !(memory = pages_new(sizeof *memory))) || maps_open(&memory->reader) < 0)
        return false;
    jit_areas_begin(&modules->jit_next, segment->header->pid, segment->header->start_us);
    count = scan(modules, segment, memory, &changed);
    maps_close(&memory->reader);
    changed |= any_went(modules, count) || !jit_areas_equal(&modules->jit, &modules->jit_next);
    swap_jit = modules->jit;
    modules->jit = modules->jit_next;
    modules->jit_next = swap_jit;
    swap = modules->images;
    modules->images = modules->images_next;
    modules->images_next = swap;
    modules->image_count = count;
    modules->started = true;
    modules->unloads = unloads;
    if (changed)
        publish(modules);
    return changed;
}

/* False: the service has not said. */
static bool take_table(struct modules *modules, struct loaded_file *file,
                       const struct feed_module *told)
{
    uint64_t at = told ? atomic_load_explicit(&told->table_at, memory_order_acquire) : 0;
    uint32_t bytes;

    if (!at)
        return false;
    bytes = atomic_load_explicit(&told->table_bytes, memory_order_relaxed);
    if (at != FEED_TABLE_NONE) {
        file->table = shared_tables_map(&modules->tables, at, bytes);
        modules->table_bytes += file->table ? bytes : 0;
    }
    file->feed.table_at = at; /* for forked children's feeds */
    file->table_known = true;
    modules->tables_to_come--;
    return true;
}

bool modules_take_tables(struct modules *modules, struct segment *segment, const char *path)
{
    bool any = false;

    if (!modules->tables_to_come || !shared_tables_open(&modules->tables, path))
        return false;
    for (uint32_t number = 1; number < modules->file_count; number++)
        if (!modules->files[number].table_known)
            any |= take_table(modules, &modules->files[number], segment_module(segment, number));
    if (any)
        publish(modules);
    return any;
}

void modules_forget_tables(struct modules *modules, struct segment *segment)
{
    shared_tables_close(&modules->tables);
    for (uint32_t number = 1; number < modules->file_count; number++) {
        struct feed_module *told = segment_module(segment, number);

        if (told && !modules->files[number].table_known)
            atomic_store_explicit(&told->table_at, 0, memory_order_relaxed);
    }
}

void modules_reclaim(struct modules *modules)
{
    code_map_reclaim(&modules->maps);
}
