#include "unsampled_list.h"

#include <stdio.h>
#include <string.h>

static uint64_t hash_of(const char *exe, enum unsampled_reason reason)
{
    uint64_t hash = UINT64_C(14695981039346656037) + reason;

    for (; *exe; exe++)
        hash = (hash ^ (unsigned char)*exe) * UINT64_C(1099511628211);
    return hash;
}

static bool is_counted(const struct unsampled_list *list, pid_t pid, uint64_t start, uint64_t hash)
{
    for (unsigned i = 0; i < COUNTED_MAX; i++)
        if (list->processes[i].pid == pid && list->processes[i].start == start &&
            list->processes[i].name_hash == hash)
            return true;
    return false;
}

/* LISTED_MAX: there is no place. */
static unsigned place_of(const struct unsampled_list *list, const char *exe,
                         enum unsampled_reason reason)
{
    unsigned free_place = LISTED_MAX;

    for (unsigned i = LISTED_MAX; i-- > 0;) {
        const struct unsampled_program *program = &list->programs[i];

        if (!program->count)
            free_place = i;
        else if (program->reason == reason && !strcmp(program->exe, exe))
            return i;
    }
    return free_place;
}

struct unsampled_program *unsampled_list_add(struct unsampled_list *list, pid_t pid, uint64_t start,
                                             int64_t now_us, const char *exe,
                                             enum unsampled_reason reason)
{
    uint64_t hash = hash_of(exe, reason);
    struct unsampled_program *program;
    unsigned place;

    if (is_counted(list, pid, start, hash))
        return NULL;
    place = place_of(list, exe, reason);
    list->processes[list->next++ % COUNTED_MAX] =
        (struct unsampled_process){ pid, start, now_us, place, hash };
    if (place == LISTED_MAX) {
        list->others++;
        return NULL;
    }
    program = &list->programs[place];
    if (!program->count) {
        *program = (struct unsampled_program){ .reason = reason };
        snprintf(program->exe, sizeof(program->exe), "%s", exe);
    }
    program->count++;
    program->pid = pid;
    return program;
}

/* Those that are left, the latest first. 0: none is remembered. */
static pid_t latest_of(const struct unsampled_list *list, unsigned program)
{
    for (unsigned i = 1; i <= COUNTED_MAX; i++) {
        const struct unsampled_process *process = &list->processes[(list->next - i) % COUNTED_MAX];

        if (process->pid && process->program == program)
            return process->pid;
    }
    return 0;
}

struct unsampled_program *unsampled_list_remove(struct unsampled_list *list,
                                                struct unsampled_process *process)
{
    unsigned place = process->program;
    struct unsampled_program *program = &list->programs[place];
    pid_t latest;

    *process = (struct unsampled_process){ 0 };
    if (place == LISTED_MAX) {
        list->others--;
        return NULL;
    }
    program->count--;
    latest = latest_of(list, place);
    if (latest)
        program->pid = latest;
    return program;
}
