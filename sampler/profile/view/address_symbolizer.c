#include "../address_symbolizer.h"

#include "../../include/isoscope/isoscope.h"
#include "../naming/symbolizer.h"
#include "../store/frame.h"
#include "describe.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)SYMBOLIZED_FRAMES_MAX == (int)INLINE_CHAIN_MAX, "a result holds a chain");

struct address_symbolizer {
    struct registry *registry;
    struct functions *functions;
    struct inline_chains *chains;
    struct symbolizer *symbolizer; /* never started: it works in the caller */
};

int address_symbolizer_new(struct address_symbolizer **out, bool names_only)
{
    struct address_symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
    struct symbolizer_options options = { .names_only = names_only };
    int error;

    if (!symbolizer)
        return -ISOSCOPE_NO_MEMORY;
    if ((error = registry_new(&symbolizer->registry)) == 0 &&
        (error = functions_new(&symbolizer->functions)) == 0 &&
        (error = inline_chains_new(&symbolizer->chains, INLINE_CHAINS_BYTES_DEFAULT)) == 0) {
        options.registry = symbolizer->registry;
        options.functions = symbolizer->functions;
        options.chains = symbolizer->chains;
        error = symbolizer_new(&symbolizer->symbolizer, &options);
    }
    if (error) {
        address_symbolizer_free(symbolizer);
        return error;
    }
    *out = symbolizer;
    return 0;
}

void address_symbolizer_free(struct address_symbolizer *symbolizer)
{
    if (!symbolizer)
        return;
    symbolizer_free(symbolizer->symbolizer);
    inline_chains_free(symbolizer->chains);
    functions_free(symbolizer->functions);
    registry_free(symbolizer->registry);
    free(symbolizer);
}

static int digit(char c)
{
    const char *digits = "0123456789abcdef", *found = c ? strchr(digits, c) : NULL;

    return found ? (int)(found - digits) : -1;
}

/* Returns the bytes, or -ISOSCOPE_INVALID. */
static int read_hex(const char *text, uint8_t bytes[FEED_BUILD_ID_MAX])
{
    int count = 0;

    for (; *text; text += 2, count++) {
        if (count == FEED_BUILD_ID_MAX || digit(text[0]) < 0 || digit(text[1]) < 0)
            return -ISOSCOPE_INVALID;
        bytes[count] = (uint8_t)(digit(text[0]) << 4 | digit(text[1]));
    }
    return count;
}

static void fill_frames(struct address_symbolizer *symbolizer, const struct chain_frame *chain,
                        uint32_t count, struct symbolized *out)
{
    struct function function;

    for (uint32_t i = 0; i < count; i++) {
        struct symbolized_frame *frame = &out->frames[out->count];

        if (!chain[i].function) /* nothing names it: the only one of its chain */
            continue;
        functions_get(symbolizer->functions, chain[i].function, &function);
        *frame = (struct symbolized_frame){ .line = chain[i].line,
                                            .file = chain[i].file,
                                            .inlined = chain[i].inlined };
        describe_function(&function, registry_module(symbolizer->registry, function.module),
                          &frame->function);
        out->count++;
    }
}

int symbolize_address(struct address_symbolizer *symbolizer, const char *path, const char *build_id,
                      uint64_t offset, struct symbolized *out)
{
    struct chain_frame chain[INLINE_CHAIN_MAX];
    uint8_t bytes[FEED_BUILD_ID_MAX];
    int count = read_hex(build_id, bytes), error = 0;
    uint32_t number, found;
    uint64_t frame;
    bool asked;

    if (count < 0)
        return count;
    number = registry_number(symbolizer->registry, path, bytes, (uint32_t)count);
    if (!number)
        return -ISOSCOPE_NO_MEMORY;
    frame = FRAME_KEY(number, offset);
    found = inline_chains_find(symbolizer->chains, frame, chain, &asked);
    if (!found && (error = symbolizer_want_frames(symbolizer->symbolizer, &frame, 1)) >= 0)
        found = inline_chains_find(symbolizer->chains, frame, chain, &asked);
    if (error < 0)
        return error;
    out->count = 0;
    fill_frames(symbolizer, chain, found, out);
    describe_library(registry_module(symbolizer->registry, number), &out->library);
    inline_chains_settle(symbolizer->chains);
    return 0;
}
