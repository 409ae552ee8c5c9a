#include "known_chain.h"

#include "../store/frame.h"
#include "resolve.h"

#include <stdatomic.h>

static struct module *module_of(const struct known_chains *known, uint64_t frame)
{
    return registry_module(known->registry, FRAME_KEY_MODULE(frame));
}

uint32_t known_symbol(const struct known_chains *known, uint64_t frame, struct chain_frame *out)
{
    struct module *module = module_of(known, frame);

    *out = (struct chain_frame){ 0 };
    if (atomic_load_explicit(&module->names, memory_order_acquire) == MODULE_NAMES_READ)
        out->function = resolve_symbol(known->functions, module, FRAME_KEY_OFFSET(frame));
    return 1;
}

uint32_t known_chain(const struct known_chains *known, uint64_t frame,
                     struct chain_frame out[INLINE_CHAIN_MAX], bool *asked)
{
    const struct module *module = module_of(known, frame);
    uint32_t count;

    *asked = false;
    if (known->saved && (count = inline_chains_find(known->saved, frame, out, asked)))
        return count;
    if (!module->number || known->nameless ||
        atomic_load_explicit(&module->named, memory_order_acquire)) {
        *out = (struct chain_frame){ 0 };
        return 1;
    }
    if (atomic_load_explicit(&module->lines, memory_order_acquire) == MODULE_LINES_NONE)
        return known_symbol(known, frame, out);
    return inline_chains_find(known->chains, frame, out, asked);
}
