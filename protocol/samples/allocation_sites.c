#include "allocation_sites.h"

#include "../generated/words.h"
#include "../objects/refs.h"
#include "../text/any_text.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <stdlib.h>
#include <string.h>

enum { WORK_SAMPLE = 20 };

/* What functions of allocators begin with. */
static const char *const plumbing[] = {
    "operator new",
    "std::allocator",
    "std::__new_allocator",
    "__gnu_cxx::new_allocator",
    "std::__allocate",
    "std::_Vector_base",
    "g_malloc",
    "g_realloc",
    "g_slice_alloc",
    "xmalloc",
    "xcalloc",
    "xrealloc",
    "PyMem_",
    "PyObject_Malloc",
    "PyObject_Realloc",
    "_PyObject_Malloc",
    "_PyMem_",
    "_PyObject_Arena",
    "pymalloc_alloc",
    "allocate_from_new_pool",
    "new_arena",
};

static bool is_plumbing(const char *name)
{
    for (size_t i = 0; i < sizeof(plumbing) / sizeof(*plumbing); i++)
        if (!strncmp(name, plumbing[i], strlen(plumbing[i])))
            return true;
    return false;
}

/* The outermost function, where all are an allocator's. */
static uint32_t site_of(const struct snapshot *snapshot, const struct snapshot_sample *sample)
{
    uint32_t count;
    const struct snapshot_frame *frames = snapshot_frames(snapshot, &count);
    const struct snapshot_function *functions = snapshot_functions(snapshot, &count);
    uint32_t place = 0;

    while (place + 1 < sample->depth &&
           is_plumbing(functions[frames[sample->frames[place]].function].name))
        place++;
    return frames[sample->frames[place]].function;
}

int allocation_sums_step(struct allocation_sums *sums, int64_t *work)
{
    struct snapshot_sample sample;
    int rc = snapshot_step(sums->snapshot, work);
    uint32_t count;

    if (rc)
        return rc;
    snapshot_functions(sums->snapshot, &count);
    if (!sums->of && !(sums->of = calloc((size_t)count + 1, sizeof(*sums->of))))
        return -ISOSCOPE_NO_MEMORY;
    while (*work > 0) {
        if (!snapshot_next(sums->snapshot, &sums->cursor, &sample))
            return 0;
        struct allocation_sum *sum = &sums->of[site_of(sums->snapshot, &sample)];

        sum->bytes += (double)sample.weight;
        sum->objects += sample.objects;
        work_off(work, WORK_SAMPLE + sample.depth);
    }
    return 1;
}

void allocation_sums_free(struct allocation_sums *sums)
{
    snapshot_free(sums->snapshot);
    free(sums->of);
    *sums = (struct allocation_sums){ 0 };
}

json_t *allocation_site_class(const struct snapshot_function *function,
                              const struct snapshot_library *library)
{
    struct json_text text = { 0 };

    ref_library(&text, TYPE_LIBRARY_REF, library);
    return json_pack("{s:s, s:b, s:s+, s:o, s:o}", "type", TYPE_CLASS_REF, "fixedId", 1, "id",
                     ALLOCATION_SITE_CLASSES, function->id, "name", any_text(function->name),
                     "library", ref_json(&text));
}

static json_int_t whole(double value)
{
    return (json_int_t)(value + 0.5);
}

static json_t *stats_of(const struct snapshot *snapshot, uint32_t number,
                        const struct allocation_sum *all, const struct allocation_sum *live,
                        bool heaps)
{
    uint32_t count;
    const struct snapshot_function *function = &snapshot_functions(snapshot, &count)[number];
    const struct snapshot_library *library =
        &snapshot_libraries(snapshot, &count)[function->library];
    json_t *stats =
        json_pack("{s:s, s:o, s:I, s:I, s:I, s:I}", "type", TYPE_CLASS_HEAP_STATS, "class",
                  allocation_site_class(function, library), "instancesAccumulated",
                  whole(all->objects), "accumulatedSize", whole(all->bytes), "instancesCurrent",
                  whole(live->objects), "bytesCurrent", whole(live->bytes));

    if (heaps) {
        json_object_set_new(stats, "_new", json_pack("[i,i,i]", 0, 0, 0));
        json_object_set_new(stats, "_old",
                            json_pack("[I,I,i]", whole(live->objects), whole(live->bytes), 0));
    }
    return stats;
}

/* By id: places in the other snapshot's functions, + 1. */
static json_t *places_of(const struct snapshot *snapshot)
{
    uint32_t count;
    const struct snapshot_function *functions = snapshot_functions(snapshot, &count);
    json_t *places = json_object();

    for (uint32_t i = 0; i < count; i++)
        json_object_set_new(places, functions[i].id, json_integer((json_int_t)i + 1));
    return places;
}

json_t *allocation_sites_json(const struct allocation_sums *all, const struct allocation_sums *live,
                              bool heaps)
{
    static const struct allocation_sum none;
    json_auto_t *of_live = places_of(live->snapshot), *of_all = places_of(all->snapshot);
    json_t *list = json_array();
    uint32_t count;
    const struct snapshot_function *functions = snapshot_functions(all->snapshot, &count);

    for (uint32_t i = 0; i < count; i++) {
        json_int_t place = json_integer_value(json_object_get(of_live, functions[i].id));
        const struct allocation_sum *alive = place ? &live->of[place - 1] : &none;

        if (all->of[i].bytes > 0 || alive->bytes > 0)
            json_array_append_new(list, stats_of(all->snapshot, i, &all->of[i], alive, heaps));
    }
    /* What lives longer than the samples of its time are kept, or was there before a reset. */
    functions = snapshot_functions(live->snapshot, &count);
    for (uint32_t i = 0; i < count; i++)
        if (live->of[i].bytes > 0 && !json_object_get(of_all, functions[i].id))
            json_array_append_new(list, stats_of(live->snapshot, i, &none, &live->of[i], heaps));
    return list;
}
