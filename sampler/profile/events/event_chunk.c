#include "event_chunk.h"

#include "../../include/isoscope/isoscope.h"
#include "event_words.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static_assert(sizeof(struct event_entry) == 16, "bytes/event");
static_assert(TIMELINE_KINDS <= 16 && FEED_EVENT_ARGUMENTS_MAX == 4, "layout");

/* The columns, one behind the other in one mapping. Untouched pages take no memory. */
enum {
    ENTRIES_BYTES = EVENT_CHUNK_MAX * sizeof(struct event_entry),
    BLOCKS_BYTES = EVENT_CHUNK_MAX / EVENT_BLOCK * sizeof(struct event_block),
    WORDS_BYTES = EVENT_CHUNK_WORDS * sizeof(uint64_t),
    TEXTS_BYTES = EVENT_CHUNK_MAX * sizeof(uint32_t),
    SOURCES_BYTES = EVENT_CHUNK_SOURCES * sizeof(struct event_source),
    COLUMNS_BYTES = ENTRIES_BYTES + BLOCKS_BYTES + WORDS_BYTES + TEXTS_BYTES +
                    EVENT_CHUNK_TEXT_BYTES + SOURCES_BYTES,
    /* What one event may need. */
    TEXTS_OF_ONE = 2 + 2 * FEED_EVENT_ARGUMENTS_MAX,
};

static int map_columns(struct event_chunk *chunk)
{
    uint8_t *base = mmap(NULL, COLUMNS_BYTES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (base == MAP_FAILED)
        return -ISOSCOPE_NO_MEMORY;
    /* A huge page would make the untouched rest of a column cost memory after all. */
    madvise(base, COLUMNS_BYTES, MADV_NOHUGEPAGE);
    chunk->entries = (struct event_entry *)base;
    base += ENTRIES_BYTES;
    chunk->blocks = (struct event_block *)base;
    base += BLOCKS_BYTES;
    chunk->words = (uint64_t *)base;
    base += WORDS_BYTES;
    chunk->texts = (uint32_t *)base;
    base += TEXTS_BYTES;
    chunk->text = (char *)base;
    base += EVENT_CHUNK_TEXT_BYTES;
    chunk->sources = (struct event_source *)base;
    /* Text 0 is "". */
    chunk->text_count = chunk->text_bytes = 1;
    chunk->filled = chunk->word_count = 0;
    return 0;
}

static void unmap_columns(struct event_chunk *chunk)
{
    if (chunk->entries)
        munmap(chunk->entries, COLUMNS_BYTES);
}

int event_chunk_new(struct event_chunk **out, uint64_t serial, uint64_t first_sequence,
                    int64_t base_ns)
{
    struct event_chunk *chunk = calloc(1, sizeof(*chunk));

    if (!chunk || map_columns(chunk) < 0) {
        free(chunk);
        return -ISOSCOPE_NO_MEMORY;
    }
    atomic_init(&chunk->references, 1);
    chunk->serial = serial;
    chunk->first_sequence = first_sequence;
    chunk->base_ns = base_ns;
    chunk->first_ns = INT64_MAX;
    chunk->last_ns = INT64_MIN;
    *out = chunk;
    return 0;
}

int event_chunk_archived(struct event_chunk **out, const struct event_chunk *outline)
{
    struct event_chunk *chunk = malloc(sizeof(*chunk));

    if (!chunk)
        return -ISOSCOPE_NO_MEMORY;
    *chunk = *outline;
    atomic_init(&chunk->references, 1);
    chunk->entries = NULL;
    for (uint32_t i = 0; i < chunk->source_count; i++)
        owner_thread_hold(chunk->sources[i].thread);
    *out = chunk;
    return 0;
}

int event_chunk_load(struct event_chunk *chunk)
{
    struct event_source *sources = chunk->sources;
    int error = map_columns(chunk);

    chunk->sources = sources;
    if (!error)
        error = chunk->archive->load(chunk->archive->context, chunk->archive_number, chunk);
    if (error)
        event_chunk_unload(chunk);
    return error;
}

void event_chunk_unload(struct event_chunk *chunk)
{
    unmap_columns(chunk);
    chunk->entries = NULL;
}

struct event_chunk *event_chunk_hold(struct event_chunk *chunk)
{
    atomic_fetch_add_explicit(&chunk->references, 1, memory_order_relaxed);
    return chunk;
}

void event_chunk_release(struct event_chunk *chunk)
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

static size_t touched(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (bytes + page - 1) & ~(page - 1);
}

size_t event_chunk_bytes(const struct event_chunk *chunk)
{
    size_t blocks = (chunk->filled + EVENT_BLOCK - 1) / EVENT_BLOCK;

    if (!chunk->entries)
        return sizeof(*chunk) + chunk->source_count * sizeof(*chunk->sources);
    return sizeof(*chunk) + touched(chunk->filled * sizeof(*chunk->entries)) +
           touched(blocks * sizeof(*chunk->blocks)) +
           touched(chunk->word_count * sizeof(*chunk->words)) +
           touched(chunk->text_count * sizeof(*chunk->texts)) + touched(chunk->text_bytes) +
           touched(chunk->source_count * (sizeof(*chunk->sources) + sizeof(struct owner_thread)));
}

bool event_chunk_fits(const struct event_chunk *chunk)
{
    return chunk->filled < EVENT_CHUNK_MAX &&
           (chunk->archive || chunk->source_count < EVENT_CHUNK_SOURCES) &&
           chunk->text_count + TEXTS_OF_ONE <= EVENT_CHUNK_MAX &&
           chunk->text_bytes + TEXTS_OF_ONE * (EVENT_TEXT_MAX + 1) <= EVENT_CHUNK_TEXT_BYTES &&
           chunk->word_count + EVENT_WORDS_MAX <= EVENT_CHUNK_WORDS;
}

static uint64_t hash_bytes(const char *text, size_t bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
    return index16_mix(hash);
}

static uint64_t hash_text(const void *array, uint16_t number)
{
    const char *text = event_chunk_text(array, number);

    return hash_bytes(text, strlen(text));
}

static bool is_text(const struct event_chunk *chunk, uint16_t number, const char *text,
                    size_t bytes)
{
    const char *there = event_chunk_text(chunk, number);

    return !strncmp(there, text, bytes) && !there[bytes];
}

/* The text is no longer than one may be, and has no zero in it. */
static int find_text(struct event_chunk *chunk, struct event_index *index, const char *text,
                     size_t bytes, uint16_t *out)
{
    struct index16_walk walk;

    if (index16_reserve(&index->texts, hash_text, chunk) < 0)
        return -ISOSCOPE_NO_MEMORY;
    walk = index16_start(&index->texts, hash_bytes(text, bytes));
    while (*walk.slot && !is_text(chunk, *walk.slot, text, bytes))
        index16_step(&index->texts, &walk);
    if (!*walk.slot) {
        memcpy(chunk->text + chunk->text_bytes, text, bytes);
        chunk->texts[chunk->text_count] = chunk->text_bytes;
        chunk->text_bytes += (uint32_t)bytes + 1;
        index16_put(&index->texts, &walk, (uint16_t)chunk->text_count++);
    }
    *out = *walk.slot;
    return 0;
}

static int text_number(struct event_chunk *chunk, struct event_index *index,
                       const struct event_word *word, uint16_t *out)
{
    size_t bytes = word->bytes < EVENT_TEXT_MAX ? word->bytes : EVENT_TEXT_MAX;
    uint32_t *place = NULL;
    bool added;
    int error;

    *out = 0;
    if (!bytes)
        return 0;
    if (word->key) {
        if (!(place = map64_put(&index->keys, word->key, &added)))
            return -ISOSCOPE_NO_MEMORY;
        if (*place) {
            *out = (uint16_t)(*place - 1);
            return 0;
        }
    }
    error = find_text(chunk, index, word->text, strnlen(word->text, bytes), out);
    if (!error && place)
        *place = *out + 1u;
    return error;
}

int event_chunk_source(struct event_chunk *chunk, struct event_index *index,
                       struct owner_thread *thread, const struct event_word *stream, uint16_t *out)
{
    uint16_t text;
    uint32_t *place;
    bool added;

    if (text_number(chunk, index, stream, &text) < 0 ||
        !(place = map64_put(&index->sources, thread->serial << 16 | text, &added)))
        return -ISOSCOPE_NO_MEMORY;
    if (!*place) {
        chunk->sources[chunk->source_count] =
            (struct event_source){ .thread = owner_thread_hold(thread), .stream = text };
        *place = ++chunk->source_count;
    }
    *out = (uint16_t)(*place - 1);
    return 0;
}

int event_chunk_stream(struct event_chunk *chunk, struct event_index *index, uint32_t source,
                       const struct event_word *stream)
{
    return text_number(chunk, index, stream, &chunk->sources[source].stream);
}

static bool has_duration(enum timeline_kind kind)
{
    return kind == TIMELINE_SLICE || kind == TIMELINE_FRAME;
}

static bool is_wide(const struct event_chunk *chunk, const struct event *event)
{
    int64_t behind = event->start_ns - chunk->base_ns;

    return behind < -(INT64_C(1) << 47) || behind >= INT64_C(1) << 47 ||
           (has_duration(event->kind) && event->duration_ns > UINT32_MAX);
}

static int fill_arguments(struct event_chunk *chunk, struct event_index *index,
                          const struct event *event, struct event_extra *extra)
{
    for (uint32_t i = 0; i < event->argument_count; i++) {
        const struct event_argument *argument = &event->arguments[i];
        struct event_extra_argument *to = &extra->arguments[i];
        uint16_t text = 0;

        to->type = (uint8_t)argument->type;
        if (text_number(chunk, index, &argument->name, &to->name) < 0 ||
            (argument->type == FEED_ARGUMENT_TEXT &&
             text_number(chunk, index, &argument->text, &text) < 0))
            return -ISOSCOPE_NO_MEMORY;
        to->word = argument->type == FEED_ARGUMENT_TEXT ? text : argument->word;
    }
    extra->argument_count = event->argument_count;
    return 0;
}

/* Of a full block these are its times. */
static void widen_block(struct event_chunk *chunk, int64_t first_ns, int64_t last_ns)
{
    struct event_block *block = &chunk->blocks[chunk->filled / EVENT_BLOCK];

    if (chunk->filled % EVENT_BLOCK == 0)
        *block = (struct event_block){ first_ns, last_ns, chunk->word_count };
    block->first_ns = first_ns < block->first_ns ? first_ns : block->first_ns;
    block->last_ns = last_ns > block->last_ns ? last_ns : block->last_ns;
}

int event_chunk_append(struct event_chunk *chunk, struct event_index *index,
                       const struct event *event, const struct event_filing *filing)
{
    uint64_t behind = (uint64_t)(event->start_ns - chunk->base_ns);
    bool lasts = has_duration(event->kind);
    struct event_extra extra = {
        .wide = is_wide(chunk, event),
        .has_id = event->id && (lasts || event->id > UINT32_MAX),
        .has_depth = filing->depth >= UINT8_MAX,
        .start_ns = event->start_ns,
        .duration_ns = lasts ? event->duration_ns : 0,
        .id = event->id,
        .depth = filing->depth,
    };
    uint16_t name;
    bool more;

    if (text_number(chunk, index, &event->name, &name) < 0 ||
        fill_arguments(chunk, index, event, &extra) < 0)
        return -ISOSCOPE_NO_MEMORY;
    more = extra.wide || extra.has_id || extra.has_depth || extra.argument_count;
    widen_block(chunk, event->start_ns, event->start_ns + (int64_t)extra.duration_ns);
    chunk->entries[chunk->filled++] = (struct event_entry){
        .start_low = (uint32_t)behind,
        .start_high = (int16_t)(behind >> 32),
        .source = filing->source,
        .duration = (uint32_t)(lasts ? event->duration_ns : event->id),
        .name = name,
        .what = EVENT_WHAT(event->kind, filing->mark, event->complete, more),
        .depth = (uint8_t)(filing->depth < UINT8_MAX ? filing->depth : UINT8_MAX),
    };
    if (more)
        chunk->word_count += event_words_write(&extra, chunk->words + chunk->word_count);
    return 0;
}

void event_index_free(struct event_index *index)
{
    index16_free(&index->texts);
    map64_free(&index->keys);
    map64_free(&index->sources);
    *index = (struct event_index){ 0 };
}

size_t event_index_bytes(const struct event_index *index)
{
    return index16_bytes(&index->texts) +
           (index->keys.capacity + index->sources.capacity) * sizeof(struct map64_entry);
}
