#include "told.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS = 4096, /* a power of two */
    SITES_MAX = 64 * 1024,
    IDS_MAX = 256 * 1024,
};

struct known_site {
    struct known_site *next;
    struct isoscope_site site;
    char text[]; /* stream, 0, name, 0 */
};

struct kept {
    struct kept *next;
    struct told_id id;
    struct isoscope_site *site;
    uint64_t start_ns;
};

static _Atomic(struct known_site *) sites[BUCKETS];
static _Atomic uint32_t site_count;
static struct kept *kept[BUCKETS];
static uint32_t kept_count;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

/* FNV-1a. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}
#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static struct known_site *find(struct known_site *first, const char *stream, const char *name)
{
    while (first &&
           (strcmp(first->site.name, name) != 0 || strcmp(first->site.stream, stream) != 0))
        first = first->next;
    return first;
}

static struct known_site *new_site(const char *stream, const char *name)
{
    size_t stream_bytes = strlen(stream) + 1, name_bytes = strlen(name) + 1;
    struct known_site *made = malloc(sizeof *made + stream_bytes + name_bytes);

    if (!made)
        return NULL;
    memcpy(made->text, stream, stream_bytes);
    memcpy(made->text + stream_bytes, name, name_bytes);
    made->site =
        (struct isoscope_site)ISOSCOPE_SITE(made->text, (const char *)made->text + stream_bytes);
    return made;
}

static struct isoscope_site *add_site(_Atomic(struct known_site *) *bucket, const char *stream,
                                      const char *name)
{
    static struct isoscope_site others = ISOSCOPE_SITE("others", "...");
    struct known_site *made, *first = atomic_load(bucket);

    if (atomic_fetch_add(&site_count, 1) >= SITES_MAX) {
        atomic_fetch_sub(&site_count, 1);
        return strcmp(name, "...") ? told_site(stream, "...") : &others;
    }
    made = new_site(stream, name);
    if (!made)
        return &others;
    do
        made->next = first; /* the same may be there twice, and does no harm */
    while (!atomic_compare_exchange_weak(bucket, &first, made));
    return &made->site;
}

struct isoscope_site *told_site(const char *stream, const char *name)
{
    uint64_t hash = hash_bytes(HASH_BEGIN, stream, strlen(stream) + 1);
    _Atomic(struct known_site *) *bucket = &sites[hash_bytes(hash, name, strlen(name)) % BUCKETS];
    struct known_site *known = find(atomic_load(bucket), stream, name);

    return known ? &known->site : add_site(bucket, stream, name);
}

/* ---- ids ---- */

uint64_t told_number(const struct told_id *id)
{
    return hash_bytes(HASH_BEGIN, id, sizeof *id);
}

bool told_keep(const struct told_id *id, struct isoscope_site *site, uint64_t start_ns)
{
    struct kept **bucket = &kept[told_number(id) % BUCKETS], *made = malloc(sizeof *made);
    bool keeps;

    if (!made)
        return false;
    pthread_mutex_lock(&kept_lock);
    keeps = kept_count < IDS_MAX;
    if (keeps) {
        *made = (struct kept){ *bucket, *id, site, start_ns };
        *bucket = made;
        kept_count++;
    }
    pthread_mutex_unlock(&kept_lock);
    if (!keeps)
        free(made);
    return keeps;
}

struct isoscope_site *told_take(const struct told_id *id, uint64_t *start_ns)
{
    struct kept **at = &kept[told_number(id) % BUCKETS], *found;
    struct isoscope_site *site = NULL;

    pthread_mutex_lock(&kept_lock);
    while (*at && memcmp(&(*at)->id, id, sizeof *id) != 0)
        at = &(*at)->next;
    found = *at;
    if (found) {
        *at = found->next;
        kept_count--;
        site = found->site;
        *start_ns = found->start_ns;
    }
    pthread_mutex_unlock(&kept_lock);
    free(found);
    return site;
}

void told_event(struct isoscope_site *site, enum isoscope_event_kind kind, uint64_t id)
{
    const struct isoscope_event event = { .struct_size = sizeof event, .kind = kind, .id = id };

    if (ISOSCOPE_IS_ON(site))
        isoscope_event_tell(site, &event);
}
