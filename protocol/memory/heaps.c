#include "heaps.h"

#include "../generated/words.h"

static json_t *heap_space(const char *name, int64_t used, int64_t capacity)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:f, s:I, s:I, s:i, s:f}", "type", TYPE_HEAP_SPACE,
                     "name", name, "vmName", "none", "collections", 1, "avgCollectionPeriodMillis",
                     0.0, "used", (json_int_t)used, "capacity", (json_int_t)capacity, "external", 0,
                     "time", 0.0);
}

json_t *heaps_json(const struct process_memory *memory)
{
    return json_pack("{s:o, s:o}", "new", heap_space("new", 0, 0), "old",
                     heap_space("old", memory->own_bytes, memory->reserved_bytes));
}
