#include "../code.h"

#include "../../include/isoscope/isoscope.h"
#include "../naming/listing.h"
#include "../parts.h"
#include "../snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Why nobody needs to look; NULL: somebody does. */
static const char *why_no_code(const struct profile *profile,
                               const struct snapshot_function *function,
                               const struct module *module)
{
    if (function->kind == SNAPSHOT_JIT)
        return "a JIT made its code: of that a profile has the name only";
    if (function->kind == SNAPSHOT_INTERPRETED)
        return "it is interpreted: it has no machine code";
    if (!module->number || !strcmp(module->path, "[lock]"))
        return "its code is in no file";
    if (function->offset == SNAPSHOT_NO_OFFSET)
        return "it is inlined wherever it was seen: its code is in its callers'";
    if (profile->kept)
        return module->build_id_bytes ? NULL : "it has no build id: another file may lie there now";
    return profile->known.nameless ? "isoscope runs with --no-symbols: it reads no files" : NULL;
}

int profile_code_ask(struct code_request **out, struct profile *profile, const char *function_id,
                     uint64_t from)
{
    struct profile_function found;
    struct code_request *request;
    struct module *module;
    const char *reason;
    uint32_t number;

    if (!profile_function(profile, function_id, &found) ||
        sscanf(function_id, "functions/%" SCNu32 "/", &number) != 1)
        return -ISOSCOPE_NOT_FOUND;
    module = registry_module(profile->registry, number);
    request = code_request_new(module, found.function.offset, from);
    if (!request)
        return -ISOSCOPE_NO_MEMORY;
    reason = why_no_code(profile, &found.function, module);
    if (reason)
        code_request_refuse(request, reason);
    else
        symbolizer_want_code(profile->symbolizer, request);
    *out = request;
    return 0;
}

const struct code_listing *profile_code_listing(const struct code_request *request)
{
    return atomic_load_explicit(&request->done, memory_order_acquire) ? &request->listing : NULL;
}

void profile_code_free(struct code_request *request)
{
    code_request_release(request);
}
