#include "scan_memory.h"

#include "system/pages.h"

#include <stdatomic.h>

static _Atomic(struct scan_memory *) memory;

/* Ticks of several threads may come at once. */
static SIGNAL_SAFE struct scan_memory *make(void)
{
    struct scan_memory *made = pages_new(sizeof *made), *none = NULL;

    if (made && !atomic_compare_exchange_strong_explicit(&memory, &none, made, memory_order_acq_rel,
                                                         memory_order_acquire)) {
        pages_free(made, sizeof *made);
        made = none;
    }
    return made;
}

struct scan_memory *scan_memory(void)
{
    struct scan_memory *made = atomic_load_explicit(&memory, memory_order_acquire);

    return made ? made : make();
}

void scan_memory_forget(void)
{
    pages_forget(atomic_load_explicit(&memory, memory_order_acquire), sizeof(struct scan_memory));
}
