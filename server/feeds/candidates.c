#include "candidates.h"

#include "process_files.h"

#include <stdio.h>
#include <string.h>

enum {
    LOOKS = 50,
    PARENTS_MAX = 64, /* whose children are looked for, in one turn */
};

/* Some write their title over their environment, which then tells nothing. */
static bool was_sampled_meanwhile(const struct candidates *candidates,
                                  const struct candidate *candidate)
{
    struct known_processes known;
    bool sampled;

    known_processes_open(&known, candidates->profile);
    sampled = known_processes_sampled(&known, candidate->pid, candidate->now);
    known_processes_close(&known);
    return sampled;
}

/* A forked child that goes on as its parent's program begins with its first tick. */
static enum unsampled_reason reason_of(const struct candidates *candidates,
                                       const struct candidate *candidate, const char *program)
{
    return strcmp(program, candidate->exe) != 0
               ? why_unsampled(candidate->pid, candidates->feed_path)
               : why_fork_unsampled(candidate->pid);
}

/* True when it needs no further look. One that is ending has no program any more. In the middle of
 * an exec the program is the new one, and its environment not there yet: two looks have to see the
 * same. */
static bool look(const struct candidates *candidates, struct candidate *candidate,
                 candidate_tell tell, void *context)
{
    char program[FEED_EXE_BYTES], still[FEED_EXE_BYTES];
    enum unsampled_reason reason;
    bool again;

    process_program(program, candidate->pid);
    if (!program[0] || process_start(candidate->pid) != candidate->start)
        return true;
    reason = reason_of(candidates, candidate, program);
    if (!strcmp(program, candidate->exe) && reason == UNSAMPLED_NONE)
        return false;
    process_program(still, candidate->pid);
    again =
        !strcmp(still, program) && !strcmp(candidate->now, program) && candidate->reason == reason;
    memcpy(candidate->now, still, sizeof(still));
    candidate->reason = reason;
    if (again && reason != UNSAMPLED_NONE && !was_sampled_meanwhile(candidates, candidate))
        tell(context, candidate);
    return again;
}

static struct seen *find_seen(struct candidates *candidates, pid_t pid, uint64_t start)
{
    for (unsigned i = 0; i < SEEN_MAX; i++)
        if (candidates->seen[i].pid == pid && candidates->seen[i].start == start)
            return &candidates->seen[i];
    return NULL;
}

static bool is_full(const struct candidates *candidates)
{
    return candidates->waiting_count == WAITING_MAX;
}

/* It may wait already, for what it was before. */
static struct candidate *place_for(struct candidates *candidates, pid_t pid, uint64_t start)
{
    for (unsigned i = 0; i < candidates->waiting_count; i++)
        if (candidates->waiting[i].pid == pid && candidates->waiting[i].start == start)
            return &candidates->waiting[i];
    return &candidates->waiting[candidates->waiting_count++];
}

/* Not called when it is full. */
static void wait_for(struct candidates *candidates, pid_t pid, uint64_t start, const char *exe)
{
    struct candidate *candidate = place_for(candidates, pid, start);
    struct seen *seen = find_seen(candidates, pid, start);

    if (!seen)
        seen = &candidates->seen[candidates->seen_next++ % SEEN_MAX];
    *seen = (struct seen){ pid, start, false };
    *candidate = (struct candidate){ .pid = pid, .start = start, .looks_left = LOOKS };
    snprintf(candidate->exe, sizeof(candidate->exe), "%s", exe);
}

/* A forked child waits, maybe for long, before it becomes another program. */
static void look_at_child(struct candidates *candidates, pid_t pid, const char *parent)
{
    uint64_t start = process_start(pid);
    const struct seen *seen = start ? find_seen(candidates, pid, start) : NULL;
    char program[FEED_EXE_BYTES];

    if (!start || (seen && !seen->unchanged))
        return;
    process_program(program, pid);
    if (!seen || strcmp(program, parent) != 0)
        wait_for(candidates, pid, start, parent);
}

/* What its first thread has started. */
static void look_at_children(struct candidates *candidates, const struct process_info *parent,
                             const struct known_processes *known)
{
    char path[64];
    FILE *file;
    int pid;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent->pid, parent->pid);
    file = fopen(path, "re");
    while (file && !is_full(candidates) && fscanf(file, "%d", &pid) == 1)
        if (!known_processes_sampled(known, pid, NULL))
            look_at_child(candidates, pid, parent->exe);
    if (file)
        fclose(file);
}

/* Of those whose feed has ended the process may live, as another program; or be gone, and its pid
 * another process's. */
static void look_at_ends(struct candidates *candidates, const struct known_processes *known)
{
    const struct process_info *ended;

    while (!is_full(candidates) && (ended = known_processes_next_end(known, candidates->ends))) {
        uint64_t start = process_start(ended->pid);

        if (start && process_start_us(start) <= ended->start_us)
            wait_for(candidates, ended->pid, start, ended->exe);
        candidates->ends = ended->end_number;
    }
}

/* Some of the sampled processes in each turn. */
static void look_at_parents(struct candidates *candidates, const struct known_processes *known)
{
    size_t looked_at = 0, i = 0;

    for (; i < known->count && looked_at < PARENTS_MAX; i++) {
        const struct process_info *parent = &known->list[(candidates->parent + i) % known->count];

        if (!parent->live)
            continue;
        look_at_children(candidates, parent, known);
        looked_at++;
    }
    candidates->parent = i < known->count ? (candidates->parent + i) % known->count : 0;
}

void candidates_find(struct candidates *candidates, const struct known_processes *known)
{
    look_at_ends(candidates, known);
    look_at_parents(candidates, known);
}

void candidates_look(struct candidates *candidates, candidate_tell tell, void *context)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < candidates->waiting_count; i++) {
        struct candidate *candidate = &candidates->waiting[i];
        struct seen *seen;

        if (look(candidates, candidate, tell, context))
            continue;
        if (candidate->looks_left--)
            candidates->waiting[kept++] = *candidate;
        else if ((seen = find_seen(candidates, candidate->pid, candidate->start)))
            seen->unchanged = true;
    }
    candidates->waiting_count = kept;
}
