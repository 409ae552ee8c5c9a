#include "pprof_places.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAGE_BYTES = 4096,
    UNREAD_BYTES = 64 << 20, /* of code in a file that could not be read */
};

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static bool is_free(const struct pprof_places *places, uint64_t start, uint64_t limit)
{
    for (uint32_t i = 0; i < places->modules.count && i < places->capacity; i++) {
        const struct pprof_place *place = &places->places[i];

        if (place->known && place->start < limit && start < place->limit)
            return false;
    }
    return true;
}

/* False: its code is in no file. */
static bool find_place(struct pprof_places *places, const struct snapshot_library *library,
                       struct pprof_place *out)
{
    uint64_t bytes = library->code_bytes, offset = library->code_offset, within;

    if (!bytes && (library->runtime || library->path[0] != '/'))
        return false;
    within = offset % PAGE_BYTES;
    if (within > library->code_file_offset)
        within = library->code_file_offset;
    out->start = offset - within;
    out->limit = out->start + round_up((bytes ? bytes : UNREAD_BYTES) + within);
    out->file_offset = library->code_file_offset - within;
    if (out->limit <= out->start)
        return false;
    if (!is_free(places, out->start,
                 out->limit)) /* of the same distance to the page as in the file */
        out->moved = round_up(places->top - out->start);
    out->start += out->moved;
    out->limit += out->moved;
    return out->limit > out->start;
}

static bool make_room(struct pprof_places *places, uint32_t number)
{
    uint32_t capacity = places->capacity ? 2 * places->capacity : 16;
    struct pprof_place *grown;

    if (number < places->capacity)
        return true;
    grown = realloc(places->places, capacity * sizeof(*grown));
    if (!grown)
        return false;
    memset(grown + places->capacity, 0, (capacity - places->capacity) * sizeof(*grown));
    places->places = grown;
    places->capacity = capacity;
    return true;
}

const struct pprof_place *pprof_place_of(struct pprof_places *places,
                                         const struct snapshot_library *library)
{
    struct pprof_place place = { 0 };
    bool added;
    uint32_t number;

    if (places->modules.count == PPROF_MODULES_MAX)
        return NULL;
    number = interned_put(&places->modules, library->id, strlen(library->id), &added);
    if (places->modules.failed || !make_room(places, number))
        return NULL;
    if (added && find_place(places, library, &place)) {
        place.known = true;
        places->places[number] = place;
        if (place.limit > places->top)
            places->top = place.limit;
    }
    return places->places[number].known ? &places->places[number] : NULL;
}

uint64_t pprof_address(struct pprof_places *places, const struct snapshot_library *library,
                       uint64_t offset)
{
    const struct pprof_place *place =
        offset == SNAPSHOT_NO_OFFSET ? NULL : pprof_place_of(places, library);
    uint64_t address = place ? offset + place->moved : 0;

    return place && address >= place->start && address < place->limit ? address : 0;
}

static int by_start(const void *a, const void *b)
{
    const struct pprof_function *first = a, *second = b;

    return (first->start > second->start) - (first->start < second->start);
}

/* Each profile tells of its functions anew. */
static void sort(struct pprof_places *places)
{
    uint32_t kept = 0;

    if (places->sorted || !places->function_count)
        return;
    qsort(places->functions, places->function_count, sizeof(*places->functions), by_start);
    for (uint32_t i = 1; i < places->function_count; i++)
        if (places->functions[i].start != places->functions[kept].start)
            places->functions[++kept] = places->functions[i];
    places->function_count = kept + 1;
    places->sorted = true;
}

static void forget_functions(struct pprof_places *places)
{
    interned_free(&places->names);
    places->function_count = 0;
    places->sorted = false;
}

/* False: no memory. */
static bool make_function_room(struct pprof_places *places)
{
    if (!places->functions)
        places->functions = calloc(PPROF_FUNCTIONS_MAX, sizeof(*places->functions));
    if (places->function_count == PPROF_FUNCTIONS_MAX)
        sort(places);
    if (places->function_count > PPROF_FUNCTIONS_MAX / 2 && places->sorted)
        forget_functions(places);
    return places->functions != NULL;
}

void pprof_places_met(struct pprof_places *places, const struct snapshot_library *library,
                      const struct snapshot_function *function)
{
    uint64_t start = pprof_address(places, library, function->offset);
    uint32_t name;
    bool added;

    if (!start || !make_function_room(places))
        return;
    name = interned_put(&places->names, function->name, strlen(function->name), &added);
    if (places->names.failed)
        return forget_functions(places);
    places->functions[places->function_count++] =
        (struct pprof_function){ start, start + (function->size ? function->size : 1), name };
    places->sorted = false;
}

const char *pprof_places_name(struct pprof_places *places, uint64_t address, size_t *size)
{
    uint32_t low = 0, high;

    sort(places);
    for (high = places->function_count; low < high;) {
        uint32_t middle = low + (high - low) / 2;

        if (places->functions[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || address >= places->functions[low - 1].end)
        return NULL;
    return interned_text(&places->names, places->functions[low - 1].name, size);
}

void pprof_places_free(struct pprof_places *places)
{
    interned_free(&places->modules);
    interned_free(&places->names);
    free(places->places);
    free(places->functions);
    *places = (struct pprof_places){ 0 };
}
