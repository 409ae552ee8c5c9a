#include "../facts.h"

#include "../facts/kept_facts.h"
#include "../facts/proc_facts.h"
#include "../facts/source_text.h"
#include "../intake/processes.h"
#include "../parts.h"

#include <inttypes.h>
#include <stdio.h>

/* 0: it has ended, and its pid may be another's by now. */
static int32_t live_pid(struct profile *profile, uint64_t process_id)
{
    struct process_info process;

    return processes_find(profile->processes, process_id, &process) && process.live ? process.pid
                                                                                    : 0;
}

void profile_host_cpu(struct profile *profile, char *out, size_t size)
{
    const char *kept = profile->kept ? kept_facts_cpu(profile->kept) : NULL;

    if (profile->kept)
        snprintf(out, size, "%s", kept ? kept : "unknown");
    else
        proc_cpu(out, size);
}

struct process_memory profile_memory(struct profile *profile, uint64_t process_id)
{
    int32_t pid = live_pid(profile, process_id);

    if (profile->kept)
        return kept_facts_memory(profile->kept, process_id);
    return pid ? proc_memory(pid) : (struct process_memory){ 0 };
}

void profile_mappings(struct profile *profile, uint64_t process_id, mapping_found found,
                      void *context)
{
    int32_t pid = live_pid(profile, process_id);
    char smaps[40];

    if (profile->kept)
        kept_facts_mappings(profile->kept, process_id, found, context);
    if (!pid)
        return;
    snprintf(smaps, sizeof(smaps), "/proc/%" PRId32 "/smaps", pid);
    proc_mappings(smaps, found, context);
}

char *profile_source_text(struct profile *profile, const char *file, size_t *length)
{
    char *kept = profile->kept ? kept_facts_source(profile->kept, file, length) : NULL;

    if (kept)
        return kept;
    return profile->source_root ? source_text_read(profile->source_root, file, length) : NULL;
}
