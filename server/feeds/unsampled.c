#include "unsampled.h"

#include "../console/log_line.h"
#include "../net/delay.h"
#include "candidates.h"
#include "process_files.h"
#include "unsampled_list.h"
#include "why_unsampled.h"

#include "../../protocol/service.h"
#include "../../sampler/feed/message.h"
#include "../../sampler/include/isoscope/isoscope.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    LOOK_MS = 20, /* exec ends the feed just before the program is another one */
    CHILDREN_MS = 200,
    NAMED_MAX = 8, /* programs that the terminal is told of by name */
};

struct unsampled {
    struct service *service;
    struct delay *look;
    struct candidates candidates;
    unsigned until_children; /* looks */
    struct unsampled_list list;
    unsigned named;
};

static int64_t clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Terminals obey control characters. */
static const char *plain(char out[FEED_EXE_BYTES], const struct unsampled_program *program)
{
    memcpy(out, program->exe, FEED_EXE_BYTES);
    for (char *at = out; *at; at++)
        if (iscntrl((unsigned char)*at))
            *at = '?';
    return out;
}

static void tell(void *context, const struct candidate *candidate)
{
    struct unsampled *unsampled = context;
    struct unsampled_program *program =
        unsampled_list_add(&unsampled->list, candidate->pid, candidate->start, clock_us(),
                           candidate->now, candidate->reason);
    char name[FEED_EXE_BYTES];

    if (!program)
        return;
    service_unsampled(unsampled->service, program->pid, program->exe,
                      unsampled_text(program->reason));
    if (program->count > 1 || unsampled->named == NAMED_MAX)
        return;
    unsampled->named++;
    program->named = true;
    log_line("%s (%d) is not sampled: %s", plain(name, program), program->pid,
             unsampled_text(program->reason));
}

/* The sampler came up in it late, or it became a program that is sampled. */
static bool is_sampled_after_all(const struct known_processes *known,
                                 const struct unsampled_process *told, const char *exe)
{
    for (size_t i = 0; i < known->count; i++) {
        const struct process_info *info = &known->list[i];

        if (info->live && info->pid == told->pid &&
            (info->start_us > told->found_us || !strncmp(info->exe, exe, sizeof(info->exe) - 1)))
            return process_start(told->pid) == told->start;
    }
    return false;
}

static void take_back(struct unsampled *unsampled, const struct known_processes *known)
{
    struct unsampled_list *list = &unsampled->list;

    for (unsigned i = 0; i < COUNTED_MAX; i++) {
        struct unsampled_process *told = &list->processes[i];
        const char *exe = told->program < LISTED_MAX ? list->programs[told->program].exe : "";
        const struct unsampled_program *program;

        if (!told->pid || !is_sampled_after_all(known, told, exe))
            continue;
        program = unsampled_list_remove(list, told);
        if (program)
            service_sampled_after_all(unsampled->service, program->pid, program->exe,
                                      unsampled_text(program->reason));
    }
}

static void look_for_candidates(struct unsampled *unsampled)
{
    struct known_processes known;

    known_processes_open(&known, unsampled->candidates.profile);
    take_back(unsampled, &known);
    candidates_find(&unsampled->candidates, &known);
    known_processes_close(&known);
}

static void look_at_programs(void *context)
{
    struct unsampled *unsampled = context;

    candidates_look(&unsampled->candidates, tell, unsampled);
    if (!unsampled->until_children--) {
        unsampled->until_children = CHILDREN_MS / LOOK_MS;
        look_for_candidates(unsampled);
    }
    if (!unsampled->candidates.waiting_count)
        unsampled->until_children = 0;
    delay_set(unsampled->look, unsampled->candidates.waiting_count ? LOOK_MS : CHILDREN_MS);
}

int unsampled_new(struct unsampled **out, struct loop *loop,
                  const struct unsampled_options *options)
{
    struct unsampled *unsampled = calloc(1, sizeof(*unsampled));

    if (!unsampled)
        return -ISOSCOPE_NO_MEMORY;
    unsampled->service = options->service;
    unsampled->candidates.profile = options->profile;
    unsampled->candidates.feed_path = options->feed_path;
    if (delay_new(&unsampled->look, loop, look_at_programs, unsampled) < 0) {
        free(unsampled);
        return -ISOSCOPE_SYSTEM;
    }
    delay_set(unsampled->look, LOOK_MS);
    *out = unsampled;
    return 0;
}

void unsampled_free(struct unsampled *unsampled)
{
    if (!unsampled)
        return;
    delay_free(unsampled->look);
    free(unsampled);
}

void unsampled_say_more(struct unsampled *unsampled)
{
    unsigned others = unsampled->list.others;

    look_for_candidates(unsampled);
    for (int looks = 0; looks < 2; looks++)
        candidates_look(&unsampled->candidates, tell, unsampled);
    for (unsigned i = 0; i < LISTED_MAX; i++) {
        const struct unsampled_program *program = &unsampled->list.programs[i];
        char name[FEED_EXE_BYTES];

        if (!program->named)
            others += program->count;
        else if (program->count > 1)
            log_line("%s was started %u times and not sampled", plain(name, program),
                     program->count);
    }
    if (others)
        log_line("%u more programs were not sampled", others);
}
