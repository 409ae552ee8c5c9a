#include "kept_loops.h"

#include <stdlib.h>

void kept_loops_free(struct kept_loops *kept)
{
    if (!kept)
        return;
    for (uint32_t i = 0; i < kept->loop_count; i++) {
        free((char *)kept->loops[i].name);
        free((char *)kept->loops[i].thread_name);
    }
    free(kept->loops);
    free(kept->unwatched);
    free(kept->highs);
    free(kept);
}

size_t kept_loops_tell(const struct kept_loops *kept, uint64_t process_id, struct loop_info *out,
                       size_t capacity)
{
    size_t count = 0;

    for (uint32_t i = 0; i < kept->loop_count; i++) {
        if (process_id && kept->loops[i].process_id != process_id)
            continue;
        if (count < capacity)
            out[count] = kept->loops[i];
        count++;
    }
    return count;
}

size_t kept_loops_unwatched(const struct kept_loops *kept, uint64_t process_id,
                            struct unwatched_thread *out, size_t capacity)
{
    size_t count = 0;

    for (uint32_t i = 0; i < kept->unwatched_count; i++) {
        if (process_id && kept->unwatched[i].process_id != process_id)
            continue;
        if (count < capacity)
            out[count] = kept->unwatched[i];
        count++;
    }
    return count;
}

size_t kept_loops_cpu_highs(const struct kept_loops *kept, uint64_t since, struct cpu_high *out,
                            size_t capacity)
{
    size_t count = 0;

    for (uint32_t i = 0; i < kept->high_count; i++) {
        if (kept->highs[i].number <= since)
            continue;
        if (count < capacity)
            out[count] = kept->highs[i];
        count++;
    }
    return count;
}
