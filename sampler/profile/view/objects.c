/* What snapshot.h finds by an id. */
#include "../../feed/cleanup.h"
#include "../intake/module_set.h"
#include "../intake/processes.h"
#include "../parts.h"
#include "describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_AT_ONCE = 64 };

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
    describe_function(&function, module, &out->function);
    return true;
}

/* The user's own, or of a runtime's packages, and the process (0: any) has met it. */
static bool is_wanted(const struct module_set *met, uint64_t process_id,
                      const struct module *module)
{
    bool has_file = *module->path == '/';

    return (module->script ? has_file || !module->system : has_file && !module->system) &&
           (!process_id || module_set_has(met, module->number));
}

/* Functions without a known file are of the module itself. */
static void describe_script(const struct function_file *file, const struct module *module,
                            struct profile_script *out)
{
    *out = (struct profile_script){ .file = file->text, .file_number = file->number };
    describe_library(module, &out->library);
}

size_t profile_scripts(struct profile *profile, uint64_t process_id, struct profile_script *out,
                       size_t capacity)
{
    CLEANUP(module_set_free) struct module_set met = { 0 };
    struct function_file files[FILES_AT_ONCE];
    size_t count = 0;
    uint32_t filled;

    processes_met(profile->processes, process_id, &met);
    for (uint32_t from = 0;
         (filled = functions_files(profile->functions, from, files, FILES_AT_ONCE)) > 0;
         from += filled) {
        for (uint32_t i = 0; i < filled; i++) {
            const struct module *module = registry_module(profile->registry, files[i].module);

            if (!files[i].functions || !is_wanted(&met, process_id, module))
                continue;
            if (count < capacity)
                describe_script(&files[i], module, &out[count]);
            count++;
        }
    }
    return count;
}
