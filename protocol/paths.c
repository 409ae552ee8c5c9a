#include "paths.h"

#include "sample_words.h"
#include "../sampler/feed/cleanup.h"
#include "../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>

enum { TAGS_ABOVE_MAX = 3, FIRST_CAPACITY = 64 };

/* Which paths are known, while they are gathered. */
struct known {
    uint64_t *hashes;    /* by path */
    uint32_t *slots;     /* path + 1; 0: free */
    uint32_t slot_count; /* a power of two, twice the paths' capacity */
};

static void known_free(struct known *known)
{
    free(known->hashes);
    free(known->slots);
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
static uint32_t *find(const struct known *known, uint64_t hash)
{
    uint32_t mask = known->slot_count - 1, at = (uint32_t)hash & mask;

    while (known->slots[at] && known->hashes[known->slots[at] - 1] != hash)
        at = (at + 1) & mask;
    return &known->slots[at];
}

static int grow(struct paths *paths, struct known *known)
{
    uint32_t capacity = paths->capacity ? paths->capacity * 2 : FIRST_CAPACITY;
    struct path *list = reallocarray(paths->list, capacity, sizeof(*list));
    uint64_t *hashes = reallocarray(known->hashes, capacity, sizeof(*hashes));
    uint32_t *slots = calloc(capacity, 2 * sizeof(*slots));

    paths->list = list ? list : paths->list;
    known->hashes = hashes ? hashes : known->hashes;
    if (!list || !hashes || !slots) {
        free(slots);
        return -ISOSCOPE_NO_MEMORY;
    }
    free(known->slots);
    known->slots = slots;
    known->slot_count = 2 * capacity;
    paths->capacity = capacity;
    for (uint32_t i = 0; i < paths->count; i++)
        *find(known, hashes[i]) = i + 1;
    return 0;
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

static int add_sample(struct paths *paths, struct known *known,
                      const struct snapshot_sample *sample)
{
    uint32_t tags = tags_of(paths, sample), *slot;
    uint64_t hash = hash_path(paths, sample, tags);

    if (paths->tags.failed || (paths->count == paths->capacity && grow(paths, known) < 0))
        return -ISOSCOPE_NO_MEMORY;
    slot = find(known, hash);
    if (!*slot) {
        known->hashes[paths->count] = hash;
        paths->list[paths->count] = (struct path){ sample->place, 0, tags };
        *slot = ++paths->count;
    }
    paths->list[*slot - 1].samples++;
    if (sample->depth + TAGS_ABOVE_MAX > paths->longest)
        paths->longest = sample->depth + TAGS_ABOVE_MAX;
    return 0;
}

/* They stay as long as the client reads. */
static void give_back_room(struct paths *paths)
{
    struct path *list = reallocarray(paths->list, paths->count + 1, sizeof(*list));

    if (!list)
        return;
    paths->list = list;
    paths->capacity = paths->count + 1;
}

int paths_gather(struct paths *paths, struct snapshot *snapshot, enum profile_tags wanted)
{
    CLEANUP(known_free) struct known known = { 0 };
    struct snapshot_sample sample;
    uint32_t cursor = 0, count;

    *paths = (struct paths){ .snapshot = snapshot, .wanted = wanted, .longest = TAGS_ABOVE_MAX };
    paths->functions = snapshot_functions(snapshot, &paths->function_count);
    paths->frames = snapshot_frames(snapshot, &count);
    paths->libraries = snapshot_libraries(snapshot, &count);
    add_tag(paths, "Root");
    while (snapshot_next(snapshot, &cursor, &sample))
        if (add_sample(paths, &known, &sample) < 0)
            return -ISOSCOPE_NO_MEMORY;
    give_back_room(paths);
    return paths->tags.failed ? -ISOSCOPE_NO_MEMORY : 0;
}

void paths_free(struct paths *paths)
{
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
