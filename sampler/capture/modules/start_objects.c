#include "start_objects.h"

#include <link.h>
#include <stddef.h>

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden"))); /* our library's own */

static const struct link_map *last;

void start_objects_note(void)
{
    const struct link_map *loader = NULL;
    bool started_with = false; /* our library was */

    if (last)
        return;
    for (const struct link_map *object = _r_debug.r_map; object; object = object->l_next) {
        if (object->l_ld == _DYNAMIC)
            started_with |= !loader;
        if (object->l_addr == _r_debug.r_ldbase)
            loader = object;
        if (!loader || object == loader || started_with)
            last = object;
    }
    if (!loader)
        last = NULL;
}

static bool lies_in(const struct link_map *object, uint64_t start, uint64_t end)
{
    return (uint64_t)object->l_ld >= start && (uint64_t)object->l_ld < end;
}

bool start_objects_hold(uint64_t start, uint64_t end)
{
    const struct link_map *object = _r_debug.r_map;

    if (!last)
        return false;
    while (object != last && !lies_in(object, start, end))
        object = object->l_next;
    return lies_in(object, start, end);
}
