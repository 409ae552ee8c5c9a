#include "known_chain.h"

#include "../store/frame.h"
#include "code_chain.h"
#include "resolve.h"

#include <stdatomic.h>

static struct module *module_of(const struct known_chains *known, uint64_t frame)
{
    return registry_module(known->registry, FRAME_KEY_MODULE(frame));
}

/* It is said at once. Without memory nobody remembers it. */
static uint32_t script_chain(const struct known_chains *known, const struct module *module,
                             uint64_t frame, struct chain_frame out[INLINE_CHAIN_MAX])
{
    bool asked;
    uint32_t count = inline_chains_find(known->chains, frame, out, &asked);

    if (count)
        return count;
    count = code_chain(registry_codes(known->registry), known->functions, module,
                       FRAME_KEY_OFFSET(frame), out);
    if (!count) {
        *out = (struct chain_frame){ 0 };
        count = 1;
    }
    inline_chains_put(known->chains, frame, out, count);
    return count;
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
    if (!module->number || (known->nameless && !module->script) ||
        atomic_load_explicit(&module->named, memory_order_acquire)) {
        *out = (struct chain_frame){ 0 };
        return 1;
    }
    if (module->script)
        return script_chain(known, module, frame, out);
    if (atomic_load_explicit(&module->lines, memory_order_acquire) == MODULE_LINES_NONE)
        return known_symbol(known, frame, out);
    return inline_chains_find(known->chains, frame, out, asked);
}
