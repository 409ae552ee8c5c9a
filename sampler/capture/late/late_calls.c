#include "late_calls.h"

#include "../../include/isoscope/isoscope.h"
#include "../system/pages.h"

#include <dlfcn.h>
#include <string.h>

static struct late_calls *_Atomic calls;

/* Of a library beside: isoscope/memory.h and its like call it by no name that a program may have. */
ISOSCOPE_API void *isoscope_next_call(const char *name);

struct late_calls *late_calls_begin(void)
{
    if (!calls)
        calls = pages_new(sizeof(struct late_calls));
    return calls;
}

/* Most names end here: an object may have a hundred thousand. */
static uint16_t head_of(const char *name)
{
    return (uint16_t)((uint8_t)name[0] | (name[0] ? (uint8_t)name[1] << 8 : 0));
}

struct late_call *late_calls_find(const char *name)
{
    struct late_calls *table = calls;

    for (uint32_t i = 0; table && i < table->count; i++)
        if (table->heads[i] == head_of(name) && !strcmp(table->list[i].name, name))
            return &table->list[i];
    return NULL;
}

void late_calls_add(const char *name, const void *ours)
{
    struct late_call *known = late_calls_find(name);
    struct late_calls *table = calls;

    if (known && known->ours != ours && known->inner != ours) {
        known->inner = known->ours;
        known->ours = ours;
    } else if (!known && table->count < LATE_CALLS_MAX) {
        table->heads[table->count] = head_of(name);
        table->list[table->count].name = name;
        table->list[table->count++].ours = ours;
    }
}

/* What is our interface, or is asked of us, stands before nothing. */
static void add_function(void *context, const char *name, const void *function)
{
    (void)context;
    if (strncmp(name, "isoscope_", 9) != 0 && strncmp(name, "__asan_", 7) != 0)
        late_calls_add(name, function);
}

void late_calls_add_library(const struct late_image *library)
{
    late_image_functions(library, add_function, NULL);
}

void *late_next(const char *name)
{
    const struct late_call *call = late_calls_find(name);
    const void *original = call ? call->original : NULL;

    return original ? (void *)original : dlsym(RTLD_NEXT, name);
}

void *isoscope_next_call(const char *name)
{
    const struct late_call *call = late_calls_find(name);

    if (!call || !call->original)
        return NULL;
    return (void *)(call->inner ? call->inner : call->original);
}
