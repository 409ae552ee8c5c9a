#include "kept_settings.h"

#include "../console/log_line.h"
#include "../feeds/process_files.h"
#include "settings_file.h"

#include "../../sampler/include/isoscope/isoscope.h"
#include "../../sampler/profile/control.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a process was told last. */
struct told {
    uint64_t id;
    struct process_settings settings;
};

struct kept_settings {
    struct profile *profile;
    char path[PATH_MAX]; /* "": nothing is kept */
    struct settings_lists lists;
    struct told *told; /* those that run, in order of arrival */
    size_t told_count;
    uint64_t version; /* of the profile, at the last look */
    bool changed;     /* there are other settings than then */
    bool said;        /* that they cannot be kept */
};

static bool is_same(const struct process_settings *a, const struct process_settings *b)
{
    return a->given == b->given &&
           (!a->given || (a->enabled == b->enabled && a->period_us == b->period_us));
}

/* A program that was replaced while it runs is the same to whoever named it. */
static bool is_path(const char *exe, const char *path)
{
    static const char deleted[] = " (deleted)";
    size_t length = strlen(path);

    return !strncmp(exe, path, length) && (!exe[length] || !strcmp(exe + length, deleted));
}

static bool is_program(const struct process_info *process, const char *name)
{
    const char *slash = strrchr(process->exe, '/');

    return is_path(strchr(name, '/') || !slash ? process->exe : slash + 1, name);
}

static struct kept_process *find_process(const struct kept_settings *kept, int32_t pid,
                                         uint64_t start)
{
    for (size_t i = 0; i < kept->lists.process_count; i++)
        if (kept->lists.processes[i].pid == pid && kept->lists.processes[i].start == start)
            return &kept->lists.processes[i];
    return NULL;
}

static struct kept_program *find_program(const struct kept_settings *kept, const char *name)
{
    for (size_t i = 0; i < kept->lists.program_count; i++)
        if (!strcmp(kept->lists.programs[i].name, name))
            return &kept->lists.programs[i];
    return NULL;
}

static struct process_settings wanted(const struct kept_settings *kept,
                                      const struct process_info *process)
{
    const struct kept_process *own =
        kept->lists.process_count ? find_process(kept, process->pid, process_start(process->pid))
                                  : NULL;

    if (own)
        return own->settings;
    for (size_t i = 0; i < kept->lists.program_count; i++)
        if (is_program(process, kept->lists.programs[i].name))
            return kept->lists.programs[i].settings;
    return (struct process_settings){ .given = false };
}

/* Both lists are in order of arrival: *from goes on where the last one was found. */
static const struct told *told_before(const struct kept_settings *kept, uint64_t id, size_t *from)
{
    for (size_t i = *from; i < kept->told_count; i++)
        if (kept->told[i].id == id) {
            *from = i + 1;
            return &kept->told[i];
        }
    return NULL;
}

/* One that is new is told in any case: by exec it may have what another program was given. */
static void tell_all(struct kept_settings *kept, const struct process_info *list, size_t count,
                     struct told *told)
{
    size_t from = 0, told_count = 0;

    for (size_t i = 0; i < count; i++) {
        const struct told *before;
        struct process_settings settings;

        if (!list[i].live)
            continue;
        before = told_before(kept, list[i].id, &from);
        settings = before && !kept->changed ? before->settings : wanted(kept, &list[i]);
        if (!before || !is_same(&before->settings, &settings))
            profile_apply_process_settings(kept->profile, list[i].id, &settings);
        told[told_count++] = (struct told){ list[i].id, settings };
    }
    free(kept->told);
    kept->told = told;
    kept->told_count = told_count;
}

static bool is_idle(const struct kept_settings *kept)
{
    return !kept->lists.process_count && !kept->lists.program_count;
}

/* Where nothing was asked of anybody this costs nothing. */
void kept_settings_look(struct kept_settings *kept)
{
    uint64_t version = profile_version(kept->profile);
    size_t count = profile_processes(kept->profile, NULL, 0), found;
    struct process_info *list;
    struct told *told;

    if ((!kept->changed && version == kept->version) || (is_idle(kept) && !kept->told_count))
        return;
    list = calloc(count + 1, sizeof(*list));
    told = calloc(count + 1, sizeof(*told));
    if (!list || !told) { /* the next look */
        free(list);
        free(told);
        return;
    }
    kept->version = version;
    found = profile_processes(kept->profile, list, count);
    tell_all(kept, list, found < count ? found : count, told);
    kept->changed = false;
    if (is_idle(kept))
        kept->told_count = 0;
    free(list);
}

static void forget_those_that_ended(struct settings_lists *lists)
{
    size_t left = 0;

    for (size_t i = 0; i < lists->process_count; i++)
        if (process_start(lists->processes[i].pid) == lists->processes[i].start)
            lists->processes[left++] = lists->processes[i];
    lists->process_count = left;
}

/* errno: why not. */
static bool save(struct kept_settings *kept)
{
    if (!kept->path[0])
        return true;
    forget_those_that_ended(&kept->lists);
    return settings_file_write(kept->path, &kept->lists) == 0;
}

static void process_given(void *context, int32_t pid, const struct process_settings *settings)
{
    struct kept_settings *kept = context;
    struct settings_lists *lists = &kept->lists;
    uint64_t start = process_start(pid);
    struct kept_process *own = find_process(kept, pid, start);

    if (!own && settings->given && lists->process_count == KEPT_PROCESSES_MAX)
        forget_those_that_ended(lists);
    if (own && !settings->given)
        *own = lists->processes[--lists->process_count];
    else if (own)
        own->settings = *settings;
    else if (settings->given && lists->process_count < KEPT_PROCESSES_MAX)
        lists->processes[lists->process_count++] = (struct kept_process){ pid, start, *settings };
    kept->changed = true;
    if (!save(kept) && !kept->said) {
        log_line("settings are not kept: %s: %s", kept->path, strerror(errno));
        kept->said = true;
    }
    kept_settings_look(kept);
}

static const char *problem_of_name(const char *name)
{
    if (!name[0])
        return "it has no name";
    if (strlen(name) >= KEPT_PROGRAM_BYTES)
        return "the name is too long";
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < ' ')
            return "the name has a character that cannot be kept";
    if (strchr(name, '/') && name[0] != '/')
        return "a path begins with '/'; without one it is the last part";
    return NULL;
}

static const char *give_program(struct settings_lists *lists, struct kept_program *one,
                                const char *name, const struct process_settings *settings)
{
    if (!settings->given && !one)
        return "nothing is kept of this program";
    if (!settings->given) {
        *one = lists->programs[--lists->program_count];
        return NULL;
    }
    if (!one && lists->program_count == KEPT_PROGRAMS_MAX)
        return "64 programs are kept already; take one back by 'default'";
    if (!one)
        one = &lists->programs[lists->program_count++];
    snprintf(one->name, sizeof(one->name), "%s", name);
    one->settings = *settings;
    return NULL;
}

static bool program_given(void *context, const char *name, const struct process_settings *settings,
                          char *problem, size_t size)
{
    struct kept_settings *kept = context;
    const char *wrong = problem_of_name(name);

    if (!wrong && !kept->path[0])
        wrong = "it cannot be kept: this service has no folder of state, or another service has it "
                "(isoscope serve --state DIR)";
    if (!wrong)
        wrong = give_program(&kept->lists, find_program(kept, name), name, settings);
    if (wrong) {
        snprintf(problem, size, "%s", wrong);
        return false;
    }
    kept->changed = true;
    kept_settings_look(kept);
    if (save(kept))
        return true;
    snprintf(problem, size, "it holds now, and is not kept: %s: %s", kept->path, strerror(errno));
    return false;
}

static void tell_programs(void *context,
                          void (*tell)(void *to, const char *program,
                                       const struct process_settings *settings),
                          void *to)
{
    const struct kept_settings *kept = context;

    for (size_t i = 0; i < kept->lists.program_count; i++)
        tell(to, kept->lists.programs[i].name, &kept->lists.programs[i].settings);
}

int kept_settings_new(struct kept_settings **out, const char *folder, struct service_keeper *keeper)
{
    struct kept_settings *kept = calloc(1, sizeof(*kept));

    if (!kept)
        return -ISOSCOPE_NO_MEMORY;
    kept->lists.processes = calloc(KEPT_PROCESSES_MAX, sizeof(*kept->lists.processes));
    kept->lists.programs = calloc(KEPT_PROGRAMS_MAX, sizeof(*kept->lists.programs));
    if (!kept->lists.processes || !kept->lists.programs) {
        kept_settings_free(kept);
        return -ISOSCOPE_NO_MEMORY;
    }
    if (folder[0])
        snprintf(kept->path, sizeof(kept->path), "%s/settings", folder);
    keeper->process = process_given;
    keeper->program = program_given;
    keeper->programs = tell_programs;
    keeper->context = kept;
    *out = kept;
    return 0;
}

void kept_settings_begin(struct kept_settings *kept, struct profile *profile)
{
    int wrong = kept->path[0] ? settings_file_read(kept->path, &kept->lists) : 0;

    kept->profile = profile;
    kept->changed = true;
    if (wrong > 0)
        log_line("%s: line %d is not understood, and left out", kept->path, wrong);
    else if (wrong < 0 && errno != ENOENT)
        log_line("settings that were kept cannot be read: %s: %s", kept->path, strerror(errno));
    kept_settings_look(kept);
}

void kept_settings_free(struct kept_settings *kept)
{
    if (!kept)
        return;
    free(kept->lists.processes);
    free(kept->lists.programs);
    free(kept->told);
    free(kept);
}
