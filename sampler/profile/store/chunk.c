#include "chunk.h"

#include "../../feed/layout.h"
#include "../../include/isoscope/isoscope.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A sample may be older than the chunk's first by this much: it was read late from its ring. */
#define LATE_US (INT64_C(1) << 31)

static_assert(sizeof(struct chunk_sample) == 16 && sizeof(struct chunk_node) == 4, "bytes/sample");

/* The columns, one behind the other in one mapping. Untouched pages take no memory. */
enum {
    SAMPLES_BYTES = CHUNK_ENTRIES_MAX * sizeof(struct chunk_sample),
    NODES_BYTES = CHUNK_ENTRIES_MAX * sizeof(struct chunk_node),
    FRAMES_BYTES = CHUNK_ENTRIES_MAX * sizeof(uint64_t),
    SOURCES_BYTES = CHUNK_ENTRIES_MAX * sizeof(struct chunk_source),
    OBJECTS_BYTES = CHUNK_ENTRIES_MAX * sizeof(uint32_t),
    WAITS_BYTES = CHUNK_ENTRIES_MAX * sizeof(uint32_t),
    COLUMNS_BYTES =
        SAMPLES_BYTES + NODES_BYTES + FRAMES_BYTES + SOURCES_BYTES + OBJECTS_BYTES + WAITS_BYTES,
};

static int map_columns(struct chunk *chunk)
{
    uint8_t *base = mmap(NULL, COLUMNS_BYTES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (base == MAP_FAILED)
        return -ISOSCOPE_NO_MEMORY;
    /* A huge page would make the untouched rest of a column cost memory after all. */
    madvise(base, COLUMNS_BYTES, MADV_NOHUGEPAGE);
    chunk->samples = (struct chunk_sample *)base;
    base += SAMPLES_BYTES;
    chunk->nodes = (struct chunk_node *)base;
    base += NODES_BYTES;
    chunk->frames = (uint64_t *)base;
    base += FRAMES_BYTES;
    chunk->sources = (struct chunk_source *)base;
    base += SOURCES_BYTES;
    chunk->objects = (uint32_t *)base;
    base += OBJECTS_BYTES;
    chunk->waits = (uint32_t *)base;
    return 0;
}

static void unmap_columns(struct chunk *chunk)
{
    if (chunk->samples)
        munmap(chunk->samples, COLUMNS_BYTES);
}

int chunk_new(struct chunk **out, enum sample_kind kind, uint64_t serial, uint64_t first_sequence,
              int64_t first_us)
{
    struct chunk *chunk = calloc(1, sizeof(*chunk));

    if (!chunk || map_columns(chunk) < 0) {
        free(chunk);
        return -ISOSCOPE_NO_MEMORY;
    }
    atomic_init(&chunk->references, 1);
    chunk->kind = kind;
    chunk->serial = serial;
    chunk->first_sequence = first_sequence;
    chunk->base_us = first_us > LATE_US ? first_us - LATE_US : 0;
    chunk->min_us = INT64_MAX;
    chunk->max_us = INT64_MIN;
    chunk->node_count = 1;
    chunk->frame_count = 1;
    *out = chunk;
    return 0;
}

struct chunk *chunk_hold(struct chunk *chunk)
{
    atomic_fetch_add_explicit(&chunk->references, 1, memory_order_relaxed);
    return chunk;
}

void chunk_release(struct chunk *chunk)
{
    if (!chunk || atomic_fetch_sub_explicit(&chunk->references, 1, memory_order_acq_rel) != 1)
        return;
    for (uint32_t i = 0; i < chunk->source_count; i++)
        owner_thread_release(chunk->sources[i].thread);
    if (chunk->archive)
        free(chunk->sources);
    unmap_columns(chunk);
    free(chunk);
}

int chunk_archived(struct chunk **out, const struct chunk *outline)
{
    struct chunk *chunk = malloc(sizeof(*chunk));

    if (!chunk)
        return -ISOSCOPE_NO_MEMORY;
    *chunk = *outline;
    atomic_init(&chunk->references, 1);
    chunk->samples = NULL;
    for (uint32_t i = 0; i < chunk->source_count; i++)
        owner_thread_hold(chunk->sources[i].thread);
    *out = chunk;
    return 0;
}

int chunk_load(struct chunk *chunk)
{
    struct chunk_source *sources = chunk->sources;
    int error = map_columns(chunk);

    chunk->sources = sources;
    if (!error)
        error = chunk->archive->load(chunk->archive->context, chunk->archive_number, chunk);
    if (error)
        chunk_unload(chunk);
    return error;
}

void chunk_unload(struct chunk *chunk)
{
    unmap_columns(chunk);
    chunk->samples = NULL;
    chunk->nodes = NULL;
    chunk->frames = NULL;
    chunk->objects = NULL;
    chunk->waits = NULL;
}

bool chunk_fits(const struct chunk *chunk, const struct store_sample *sample)
{
    return chunk->sample_count < CHUNK_ENTRIES_MAX && chunk->source_count < CHUNK_ENTRIES_MAX &&
           chunk->node_count + sample->depth <= CHUNK_ENTRIES_MAX &&
           chunk->frame_count + sample->depth <= CHUNK_ENTRIES_MAX &&
           sample->timestamp_us - chunk->base_us <= UINT32_MAX;
}

static uint64_t hash_frame(const void *array, uint16_t number)
{
    return index16_mix(((const uint64_t *)array)[number]);
}

static uint64_t hash_node(const void *array, uint16_t number)
{
    const struct chunk_node *node = (const struct chunk_node *)array + number;

    return index16_mix((uint64_t)node->parent << 16 | node->frame);
}

static int frame_number(struct chunk *chunk, struct index16 *index, uint64_t frame, uint16_t *out)
{
    struct index16_walk walk;

    if (index16_reserve(index, hash_frame, chunk->frames) < 0)
        return -ISOSCOPE_NO_MEMORY;
    walk = index16_start(index, index16_mix(frame));
    while (*walk.slot && chunk->frames[*walk.slot] != frame)
        index16_step(index, &walk);
    if (!*walk.slot) {
        chunk->frames[chunk->frame_count] = frame;
        index16_put(index, &walk, (uint16_t)chunk->frame_count++);
    }
    *out = *walk.slot;
    return 0;
}

static bool same_node(struct chunk_node a, struct chunk_node b)
{
    return a.parent == b.parent && a.frame == b.frame;
}

static int node_number(struct chunk *chunk, struct index16 *index, struct chunk_node node,
                       uint16_t *out)
{
    struct index16_walk walk;

    if (index16_reserve(index, hash_node, chunk->nodes) < 0)
        return -ISOSCOPE_NO_MEMORY;
    walk = index16_start(index, index16_mix((uint64_t)node.parent << 16 | node.frame));
    while (*walk.slot && !same_node(chunk->nodes[*walk.slot], node))
        index16_step(index, &walk);
    if (!*walk.slot) {
        chunk->nodes[chunk->node_count] = node;
        index16_put(index, &walk, (uint16_t)chunk->node_count++);
    }
    *out = *walk.slot;
    return 0;
}

/* From the thread's first frame down to the leaf's caller. */
static int caller_number(struct chunk *chunk, struct chunk_index *index,
                         const struct store_sample *sample, uint16_t *out)
{
    struct chunk_node node = { 0, 0 };

    for (uint32_t i = sample->depth; i-- > 1;) {
        if (frame_number(chunk, &index->frames, sample->frames[i], &node.frame) < 0 ||
            node_number(chunk, &index->nodes, node, &node.parent) < 0)
            return -ISOSCOPE_NO_MEMORY;
    }
    *out = node.parent;
    return 0;
}

static uint16_t source_new(struct chunk *chunk, struct owner_thread *thread, uint32_t tag)
{
    uint16_t number = (uint16_t)chunk->source_count++;

    chunk->sources[number] =
        (struct chunk_source){ .thread = owner_thread_hold(thread), .tag = tag, .next = number };
    if (thread->chunk_serial == chunk->serial)
        chunk->sources[number].next = thread->chunk_source;
    return number;
}

/* A thread keeps its tag for many samples: the source last used comes first. */
static uint16_t source_number(struct chunk *chunk, struct owner_thread *thread, uint32_t tag)
{
    struct chunk_source *sources = chunk->sources;
    uint16_t number = thread->chunk_source, before = number;
    bool known = thread->chunk_serial == chunk->serial;

    while (known && sources[number].tag != tag) {
        before = number;
        number = sources[number].next;
        known = number != before;
    }
    if (!known) {
        number = source_new(chunk, thread, tag);
    } else if (number != thread->chunk_source) {
        sources[before].next = sources[number].next == number ? before : sources[number].next;
        sources[number].next = thread->chunk_source;
    }
    thread->chunk_serial = chunk->serial;
    thread->chunk_source = number;
    return number;
}

/* Rounded, so that the errors of many samples cancel out. */
static uint32_t weight_units(enum sample_kind kind, uint64_t weight)
{
    uint64_t unit = chunk_weight_unit(kind);
    uint64_t units = weight / unit + (2 * (weight % unit) >= unit);

    return units < UINT32_MAX ? (uint32_t)units : UINT32_MAX;
}

int chunk_append(struct chunk *chunk, struct chunk_index *index, const struct store_sample *sample)
{
    int64_t time = sample->timestamp_us - chunk->base_us;
    struct chunk_sample *to = &chunk->samples[chunk->sample_count];

    assert(sample->depth > 0 && sample->depth <= FEED_DEPTH_MAX);
    assert(sample->timestamp_us >= 0 && sample->end < 16 && sample->state < 16);
    if (caller_number(chunk, index, sample, &to->caller) < 0 ||
        frame_number(chunk, &index->frames, sample->frames[0], &to->leaf) < 0)
        return -ISOSCOPE_NO_MEMORY;
    to->time = time > 0 ? (uint32_t)time : 0;
    to->weight = weight_units(chunk->kind, sample->weight);
    if (sample_kind_is_many(chunk->kind))
        chunk->objects[chunk->sample_count] = sample->objects;
    if (sample_kind_is_waits(chunk->kind))
        chunk->waits[chunk->sample_count] = CHUNK_WAIT(sample->wait);
    to->source = source_number(chunk, sample->thread, sample->tag);
    chunk->sources[to->source].last = (uint16_t)chunk->sample_count;
    to->end = sample->end;
    to->state = sample->state;
    if (chunk->base_us + to->time < chunk->min_us)
        chunk->min_us = chunk->base_us + to->time;
    if (chunk->base_us + to->time > chunk->max_us)
        chunk->max_us = chunk->base_us + to->time;
    chunk->sample_count++;
    return 0;
}

/* Asked once: chunk_bytes is wanted at each sample. */
static size_t page_bytes(void)
{
    static _Atomic size_t bytes;
    size_t known = atomic_load_explicit(&bytes, memory_order_relaxed);

    if (!known) {
        known = (size_t)sysconf(_SC_PAGESIZE);
        atomic_store_explicit(&bytes, known, memory_order_relaxed);
    }
    return known;
}

static size_t in_pages(size_t count, size_t entry_bytes)
{
    return (count * entry_bytes + page_bytes() - 1) & ~(page_bytes() - 1);
}

size_t chunk_bytes(const struct chunk *chunk)
{
    return sizeof(*chunk) + in_pages(chunk->sample_count, sizeof(*chunk->samples)) +
           in_pages(chunk->node_count, sizeof(*chunk->nodes)) +
           in_pages(chunk->frame_count, sizeof(*chunk->frames)) +
           in_pages(chunk->source_count, sizeof(*chunk->sources)) +
           (sample_kind_is_many(chunk->kind)
                ? in_pages(chunk->sample_count, sizeof(*chunk->objects))
                : 0) +
           (sample_kind_is_waits(chunk->kind) ? in_pages(chunk->sample_count, sizeof(*chunk->waits))
                                              : 0) +
           chunk->source_count * (sizeof(struct owner_thread) + sizeof(struct owner));
}

void chunk_index_reset(struct chunk_index *index)
{
    index16_reset(&index->nodes);
    index16_reset(&index->frames);
}

void chunk_index_free(struct chunk_index *index)
{
    index16_free(&index->nodes);
    index16_free(&index->frames);
}

size_t chunk_index_bytes(const struct chunk_index *index)
{
    return index16_bytes(&index->nodes) + index16_bytes(&index->frames);
}
