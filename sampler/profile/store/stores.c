#include "stores.h"

/* Few threads are looked at, and not for long. */
enum { STALLS_PART = 8 };

int stores_new(struct stores *stores, size_t bytes_max)
{
    int error = store_new(&stores->of[SAMPLES_OF_TIME], bytes_max, SAMPLES_OF_TIME);

    if (!bytes_max)
        bytes_max = STORE_BYTES_DEFAULT;
    if (!error)
        error =
            store_new(&stores->of[SAMPLES_OF_STALLS], bytes_max / STALLS_PART, SAMPLES_OF_STALLS);
    if (!error)
        error = store_new(&stores->of[SAMPLES_OF_ALLOCATIONS], bytes_max, SAMPLES_OF_ALLOCATIONS);
    if (!error)
        error = store_new(&stores->of[SAMPLES_OF_LIVE], bytes_max, SAMPLES_OF_LIVE);
    for (int kind = SAMPLES_OF_LOCKS; kind <= SAMPLES_OF_FAULTS && !error; kind++)
        error = store_new(&stores->of[kind], bytes_max, (enum sample_kind)kind);
    if (!error)
        error = live_sets_new(&stores->live, stores->of[SAMPLES_OF_LIVE]);
    return error;
}

void stores_free(struct stores *stores)
{
    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        store_free(stores->of[kind]);
    live_sets_free(stores->live);
}

uint64_t stores_version(const struct stores *stores)
{
    uint64_t version = 0;

    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        version += store_version(stores->of[kind]);
    return version;
}

struct profile_history stores_history(const struct stores *stores)
{
    return store_history(stores->of[SAMPLES_OF_TIME]);
}

int owners_new(struct owners *owners, uint64_t process_id)
{
    int error = 0;

    for (int kind = 0; kind < SAMPLE_KINDS && !error; kind++)
        error = owner_new(&owners->of[kind], process_id);
    return error;
}

void owners_release(struct owners *owners)
{
    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        owner_release(owners->of[kind]);
}

uint64_t owners_unstored(const struct owners *owners)
{
    uint64_t count = 0;

    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        count += atomic_load(&owners->of[kind]->unstored);
    return count;
}

bool stores_have_samples(const struct stores *stores, const struct owners *owners)
{
    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        if (store_counts(stores->of[kind], owners->of[kind]).samples)
            return true;
    return false;
}

uint64_t stores_count_others(const struct stores *stores, const struct owners *owners)
{
    static const enum sample_kind kinds[] = { SAMPLES_OF_ALLOCATIONS, SAMPLES_OF_LOCKS,
                                              SAMPLES_OF_WAITS, SAMPLES_OF_FAULTS };
    uint64_t count = 0;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        count += store_counts(stores->of[kinds[i]], owners->of[kinds[i]]).samples;
    return count;
}

void stores_clear(const struct stores *stores, const struct owners *owners)
{
    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        store_clear(stores->of[kind], owners->of[kind]);
    live_sets_changed(stores->live);
}

void stores_clear_thread(const struct stores *stores, const struct owners *owners, int32_t tid)
{
    for (int kind = 0; kind < SAMPLE_KINDS; kind++)
        store_clear_thread(stores->of[kind], owners->of[kind], tid);
    live_sets_changed(stores->live);
}

int stores_show(const struct stores *stores, enum sample_kind kind)
{
    return kind == SAMPLES_OF_LIVE ? live_sets_show(stores->live) : 0;
}
