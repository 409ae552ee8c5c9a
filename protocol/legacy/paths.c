#include "paths.h"

#include "../samples/sample_words.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>

enum {
    TAGS_ABOVE_MAX = 3,
    FIRST_CAPACITY = 64,
    PARTS = 256,
    WORK_SAMPLE = 8,
    WORK_ENTRY = 2,
};

/* Which paths are known, by some bits of their hash: parts grow each by itself, so that no growth
 * takes long. */
struct part {
    uint32_t *slots;               /* path + 1; 0: free */
    uint32_t slot_count, capacity; /* slot_count: a power of two, twice the capacity */
    uint32_t used;
};

/* While they are gathered. */
struct paths_known {
    uint64_t *hashes; /* by path */
    struct part parts[PARTS];
};

static void known_free(struct paths_known *known)
{
    if (!known)
        return;
    for (int i = 0; i < PARTS; i++)
        free(known->parts[i].slots);
    free(known->hashes);
    free(known);
}

static uint64_t mix(uint64_t hash, uint32_t entry)
{
    hash = (hash ^ (entry + UINT64_C(1))) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

uint64_t path_id(uint64_t parent, uint32_t entry)
{
    return mix(parent, entry) >> 11;
}

uint64_t path_id_of(const struct paths *paths, const struct snapshot_sample *sample)
{
    uint64_t id = path_id(0, paths->function_count);

    for (uint32_t i = sample->depth; i-- > 0;)
        id = path_id(id, paths->frames[sample->frames[i]].function);
    return id;
}

/* The slot with the hash, or the free one where it belongs. */
static uint32_t *find_part(const struct paths_known *known, const struct part *part, uint64_t hash)
{
    uint32_t mask = part->slot_count - 1, at = (uint32_t)hash & mask;

    while (part->slots[at] && known->hashes[part->slots[at] - 1] != hash)
        at = (at + 1) & mask;
    return &part->slots[at];
}

static int grow_part(const struct paths_known *known, struct part *part)
{
    struct part larger = { .capacity = part->capacity ? part->capacity * 2 : FIRST_CAPACITY,
                           .used = part->used };

    larger.slot_count = 2 * larger.capacity;
    larger.slots = calloc(larger.slot_count, sizeof(*larger.slots));
    if (!larger.slots)
        return -ISOSCOPE_NO_MEMORY;
    for (uint32_t i = 0; i < part->slot_count; i++)
        if (part->slots[i])
            *find_part(known, &larger, known->hashes[part->slots[i] - 1]) = part->slots[i];
    free(part->slots);
    *part = larger;
    return 0;
}

static int make_room(struct paths *paths, struct part *part, int64_t *work)
{
    if (part->used < part->capacity)
        return 0;
    work_off(work, part->used * WORK_SAMPLE);
    return grow_part(paths->known, part);
}

static uint32_t add_tag(struct paths *paths, const char *name)
{
    tags_add(&paths->tags, name);
    return paths->tags.last;
}

static uint32_t tags_of(struct paths *paths, const struct snapshot_sample *sample)
{
    uint32_t user = add_tag(paths, snapshot_user_tag(sample->tag, sample->thread_name));

    if (!paths->vm_tags[sample->state])
        paths->vm_tags[sample->state] = add_tag(paths, sample_vm_tag(sample->state));
    switch (paths->wanted) {
    case PROFILE_TAGS_USER_VM:
    case PROFILE_TAGS_VM_USER:
        return user << 8 | sample->state;
    case PROFILE_TAGS_USER_ONLY:
        return user << 8;
    case PROFILE_TAGS_VM_ONLY:
        return sample->state;
    default:
        return 0;
    }
}

static uint64_t hash_path(const struct paths *paths, const struct snapshot_sample *sample,
                          uint32_t tags)
{
    uint64_t hash = mix(sample->depth, tags);

    for (uint32_t i = 0; i < sample->depth; i++)
        hash = mix(hash, paths->frames[sample->frames[i]].function);
    return hash;
}

static int add_sample(struct paths *paths, const struct snapshot_sample *sample, int64_t *work)
{
    uint32_t tags = tags_of(paths, sample), *slot;
    uint64_t hash = hash_path(paths, sample, tags);
    struct part *part = &paths->known->parts[hash >> 56];

    if (paths->tags.failed || make_room(paths, part, work) < 0)
        return -ISOSCOPE_NO_MEMORY;
    slot = find_part(paths->known, part, hash);
    if (!*slot) {
        paths->known->hashes[paths->count] = hash;
        paths->list[paths->count] = (struct path){ sample->place, 0, tags };
        *slot = ++paths->count;
        part->used++;
    }
    paths->list[*slot - 1].samples++;
    if (sample->depth + TAGS_ABOVE_MAX > paths->longest)
        paths->longest = sample->depth + TAGS_ABOVE_MAX;
    work_off(work, WORK_SAMPLE + sample->depth * WORK_ENTRY);
    return 0;
}

/* They stay as long as the client reads. */
static void give_back_room(struct paths *paths)
{
    struct path *list = reallocarray(paths->list, (size_t)paths->count + 1, sizeof(*list));

    if (list)
        paths->list = list;
}

/* For a path each sample: what is not used is never touched. Arrays that grow would be copied, and
 * everybody waits for that. */
static bool reserve_path(struct paths *paths)
{
    size_t most = (size_t)snapshot_sample_count(paths->snapshot) + 1;

    paths->list = reallocarray(NULL, most, sizeof(*paths->list));
    paths->known->hashes = reallocarray(NULL, most, sizeof(*paths->known->hashes));
    return paths->list && paths->known->hashes;
}

int paths_begin(struct paths *paths, struct snapshot *snapshot, enum profile_tags wanted)
{
    uint32_t count;

    *paths = (struct paths){ .snapshot = snapshot, .wanted = wanted, .longest = TAGS_ABOVE_MAX };
    paths->functions = snapshot_functions(snapshot, &paths->function_count);
    paths->frames = snapshot_frames(snapshot, &count);
    paths->libraries = snapshot_libraries(snapshot, &count);
    paths->known = calloc(1, sizeof(*paths->known));
    add_tag(paths, "Root");
    return paths->known && reserve_path(paths) && !paths->tags.failed ? 0 : -ISOSCOPE_NO_MEMORY;
}

int paths_gather(struct paths *paths, int64_t *work)
{
    struct snapshot_sample sample;

    do {
        if (*work <= 0 || !snapshot_ready(paths->snapshot, paths->cursor, work))
            return 1;
        if (!snapshot_next(paths->snapshot, &paths->cursor, &sample))
            break;
        if (add_sample(paths, &sample, work) < 0)
            return -ISOSCOPE_NO_MEMORY;
    } while (true);
    known_free(paths->known);
    paths->known = NULL;
    give_back_room(paths);
    return paths->tags.failed ? -ISOSCOPE_NO_MEMORY : 0;
}

void paths_free(struct paths *paths)
{
    known_free(paths->known);
    free(paths->list);
    tags_free(&paths->tags);
}

/* Returns how many: the root and the tags that were asked for. */
static uint32_t read_tags(const struct paths *paths, const struct path *path, uint32_t *out)
{
    uint32_t behind = paths->function_count, user = behind + (path->tags >> 8);
    uint32_t vm = behind + paths->vm_tags[path->tags % PATH_STATES];

    out[0] = behind;
    switch (paths->wanted) {
    case PROFILE_TAGS_USER_VM:
        out[1] = user;
        out[2] = vm;
        return 3;
    case PROFILE_TAGS_VM_USER:
        out[1] = vm;
        out[2] = user;
        return 3;
    case PROFILE_TAGS_USER_ONLY:
        out[1] = user;
        return 2;
    case PROFILE_TAGS_VM_ONLY:
        out[1] = vm;
        return 2;
    default:
        return 1;
    }
}

uint32_t paths_read(const struct paths *paths, const struct path *path,
                    enum path_direction direction, uint32_t *out)
{
    const uint32_t *frames;
    uint32_t count = read_tags(paths, path, out);
    uint32_t depth = snapshot_stack(paths->snapshot, path->place, &frames);

    for (uint32_t i = 0; i < depth; i++)
        out[count + i] = paths->frames[frames[direction == PATH_UP ? i : depth - 1 - i]].function;
    return count + depth;
}
