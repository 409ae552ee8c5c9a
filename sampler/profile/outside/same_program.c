#include "same_program.h"

#include "../../capture/system/memory.h"
#include "thread_names.h"

#include <errno.h>
#include <string.h>

enum {
    LOOK_US = 100000,  /* between two looks */
    NAME_US = 2000000, /* between two looks at its name */
};

enum same_program same_program_at(int32_t pid, const struct feed_head *known)
{
    struct feed_head head;
    long got;

    if (!known->mapped_at)
        return PROGRAM_HIDDEN; /* written from outside, by who will say when it has ended */
    got = memory_read_some(pid, &head, known->mapped_at, sizeof(head));

    if (got == (long)sizeof(head))
        return memcmp(&head, known, sizeof(head)) == 0 ? PROGRAM_SAME : PROGRAM_ANOTHER;
    return got == -EFAULT ? PROGRAM_ANOTHER : PROGRAM_HIDDEN;
}

static bool is_renamed(const struct program_proof *proof, int32_t pid)
{
    char name[16];

    return proof->name[0] && thread_name_read(pid, pid, name) && strcmp(proof->name, name) != 0;
}

static bool has_become_another(struct program_proof *proof, int32_t pid,
                               const struct feed_head *known, int64_t now_us)
{
    enum same_program seen = same_program_at(pid, known);

    if (seen == PROGRAM_SAME && now_us >= proof->name_us) {
        proof->name_us = now_us + NAME_US;
        thread_name_read(pid, pid, proof->name);
    }
    return seen == PROGRAM_ANOTHER || (seen == PROGRAM_HIDDEN && is_renamed(proof, pid));
}

bool program_is_gone(struct program_proof *proof, int32_t pid, const struct feed_head *known,
                     uint64_t ticks, int64_t now_us)
{
    if (pid <= 0 || now_us - proof->looked_us < LOOK_US)
        return proof->gone;
    proof->looked_us = now_us;
    if (ticks == proof->ticks)
        proof->gone |= has_become_another(proof, pid, known, now_us);
    proof->ticks = ticks;
    return proof->gone;
}
