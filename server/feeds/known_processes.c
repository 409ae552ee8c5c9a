#include "known_processes.h"

#include <stdlib.h>
#include <string.h>

void known_processes_open(struct known_processes *known, struct profile *profile)
{
    size_t room = profile_processes(profile, NULL, 0), count;

    known->list = calloc(room + 1, sizeof(*known->list));
    count = known->list ? profile_processes(profile, known->list, room) : 0;
    known->count = count < room ? count : room;
}

void known_processes_close(struct known_processes *known)
{
    free(known->list);
}

bool known_processes_sampled(const struct known_processes *known, pid_t pid, const char *program)
{
    for (size_t i = 0; i < known->count; i++) {
        const struct process_info *info = &known->list[i];

        if (info->live && info->pid == pid &&
            (!program || !strncmp(info->exe, program, sizeof(info->exe) - 1)))
            return true;
    }
    return false;
}

const struct process_info *known_processes_next_end(const struct known_processes *known,
                                                    uint64_t ends)
{
    const struct process_info *next = NULL;

    for (size_t i = 0; i < known->count; i++) {
        const struct process_info *info = &known->list[i];

        if (info->end_number > ends && (!next || info->end_number < next->end_number))
            next = info;
    }
    return next;
}
