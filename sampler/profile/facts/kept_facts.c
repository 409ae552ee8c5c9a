#include "kept_facts.h"

#include "../../include/isoscope/isoscope.h"
#include "../base/grow.h"

#include <string.h>

struct kept_mapping {
    char *path;
    uint64_t rss_bytes;
};

struct kept_process {
    uint64_t id;
    struct process_memory memory;
    struct kept_mapping *mappings;
    uint32_t count, capacity;
};

struct kept_source {
    char *file, *text;
    size_t length;
};

struct kept_facts {
    char *cpu;
    struct kept_process *processes;
    uint32_t process_count, process_capacity;
    struct kept_source *sources;
    uint32_t source_count, source_capacity;
};

int kept_facts_new(struct kept_facts **out)
{
    struct kept_facts *kept = calloc(1, sizeof(*kept));

    if (!kept)
        return -ISOSCOPE_NO_MEMORY;
    *out = kept;
    return 0;
}

static void forget_mappings(struct kept_process *process)
{
    for (uint32_t i = 0; i < process->count; i++)
        free(process->mappings[i].path);
    free(process->mappings);
    process->mappings = NULL;
    process->count = process->capacity = 0;
}

void kept_facts_free(struct kept_facts *kept)
{
    if (!kept)
        return;
    for (uint32_t i = 0; i < kept->process_count; i++)
        forget_mappings(&kept->processes[i]);
    for (uint32_t i = 0; i < kept->source_count; i++) {
        free(kept->sources[i].file);
        free(kept->sources[i].text);
    }
    free(kept->processes);
    free(kept->sources);
    free(kept->cpu);
    free(kept);
}

static struct kept_process *find(const struct kept_facts *kept, uint64_t process_id)
{
    for (uint32_t i = 0; i < kept->process_count; i++)
        if (kept->processes[i].id == process_id)
            return &kept->processes[i];
    return NULL;
}

int kept_facts_put_cpu(struct kept_facts *kept, const char *cpu)
{
    char *copy = strdup(cpu);

    if (!copy)
        return -ISOSCOPE_NO_MEMORY;
    free(kept->cpu);
    kept->cpu = copy;
    return 0;
}

int kept_facts_put_memory(struct kept_facts *kept, uint64_t process_id,
                          const struct process_memory *memory, bool mappings)
{
    struct kept_process *process = find(kept, process_id);

    if (!process) {
        if (!GROW(kept->processes, kept->process_count, kept->process_capacity))
            return -ISOSCOPE_NO_MEMORY;
        process = &kept->processes[kept->process_count++];
        *process = (struct kept_process){ .id = process_id };
    }
    process->memory = *memory;
    if (mappings)
        forget_mappings(process);
    return 0;
}

int kept_facts_put_mapping(struct kept_facts *kept, uint64_t process_id, const char *path,
                           uint64_t rss_bytes)
{
    struct kept_process *process = find(kept, process_id);
    char *copy = strdup(path);

    if (!process || !copy || !GROW(process->mappings, process->count, process->capacity)) {
        free(copy);
        return -ISOSCOPE_NO_MEMORY;
    }
    process->mappings[process->count++] = (struct kept_mapping){ copy, rss_bytes };
    return 0;
}

int kept_facts_put_source(struct kept_facts *kept, const char *file, const char *text,
                          size_t length)
{
    struct kept_source source = { strdup(file), malloc(length + 1), length };

    if (!source.file || !source.text ||
        !GROW(kept->sources, kept->source_count, kept->source_capacity)) {
        free(source.file);
        free(source.text);
        return -ISOSCOPE_NO_MEMORY;
    }
    memcpy(source.text, text, length);
    source.text[length] = 0;
    kept->sources[kept->source_count++] = source;
    return 0;
}

const char *kept_facts_cpu(const struct kept_facts *kept)
{
    return kept->cpu;
}

struct process_memory kept_facts_memory(const struct kept_facts *kept, uint64_t process_id)
{
    const struct kept_process *process = find(kept, process_id);

    return process ? process->memory : (struct process_memory){ 0 };
}

void kept_facts_mappings(const struct kept_facts *kept, uint64_t process_id, mapping_found found,
                         void *context)
{
    const struct kept_process *process = find(kept, process_id);

    for (uint32_t i = 0; process && i < process->count; i++)
        found(context, process->mappings[i].path, process->mappings[i].rss_bytes);
}

char *kept_facts_source(const struct kept_facts *kept, const char *file, size_t *length)
{
    for (uint32_t i = 0; i < kept->source_count; i++) {
        const struct kept_source *source = &kept->sources[i];
        char *copy;

        if (strcmp(source->file, file) != 0)
            continue;
        copy = malloc(source->length + 1);
        if (!copy)
            return NULL;
        *length = source->length;
        return memcpy(copy, source->text, source->length + 1);
    }
    return NULL;
}
