/* What snapshot.h finds by an id. */
#include "describe.h"
#include "map64.h"
#include "parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct module *find_module(struct profile *profile, const char *id, const char *format)
{
    uint32_t number;
    int end = 0;

    if (sscanf(id, format, &number, &end) != 1 || !end)
        return NULL;
    return registry_find(profile->registry, number);
}

bool profile_library(struct profile *profile, const char *id, struct snapshot_library *out)
{
    const struct module *module = find_module(profile, id, "libraries/%" SCNu32 "%n");

    if (!module)
        return false;
    describe_library(module, out);
    return !strcmp(out->id, id);
}

/* Named by its offset alone, so that it needs no record. */
static bool find_offset(struct profile *profile, const struct module *module, const char *id,
                        struct profile_function *out)
{
    uint64_t offset;
    char *name;

    if (sscanf(id, "functions/%*u/%" SCNx64, &offset) != 1 ||
        !(name = describe_offset_name(profile->registry, module, offset)))
        return false;
    snprintf(out->name, sizeof(out->name), "%s", name);
    free(name);
    describe_offset(module, offset, out->name, &out->function);
    return !strcmp(out->function.id, id);
}

bool profile_function(struct profile *profile, const char *id, struct profile_function *out)
{
    const struct module *module = find_module(profile, id, "functions/%" SCNu32 "/%n");
    struct function function;

    if (!module)
        return false;
    describe_library(module, &out->library);
    if (!functions_find(profile->functions, id, &function))
        return find_offset(profile, module, id, out);
    describe_function(&function, &out->function);
    return true;
}

size_t profile_scripts(struct profile *profile, struct profile_script *out, size_t capacity)
{
    uint32_t end = functions_end(profile->functions);
    struct map64 known = { 0 };
    struct function function;
    size_t count = 0;
    bool added;

    for (uint32_t number = 1; number < end; number++) {
        const struct module *module;

        functions_get(profile->functions, number, &function);
        module = registry_module(profile->registry, function.module);
        if (!function.file || module->system ||
            !map64_put(&known, (uint64_t)function.module << 32 | function.file_number, &added) ||
            !added)
            continue;
        if (count < capacity) {
            out[count] = (struct profile_script){ .file = function.file,
                                                  .file_number = function.file_number };
            describe_library(module, &out[count].library);
        }
        count++;
    }
    map64_free(&known);
    return count;
}
