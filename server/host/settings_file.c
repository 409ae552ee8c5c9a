#include "settings_file.h"

#include "../feeds/process_files.h"

#include "../../sampler/feed/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BOOT_BYTES = 40, LINE_BYTES = KEPT_PROGRAM_BYTES + 64 };

#define HEAD "isoscope settings 1 "

static void read_boot(char out[BOOT_BYTES])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (!file || !fgets(out, BOOT_BYTES, file))
        snprintf(out, BOOT_BYTES, "unknown");
    if (file)
        fclose(file);
    out[strcspn(out, "\n")] = '\0';
}

static bool read_switch(const char *word, uint32_t period_us, struct process_settings *out)
{
    bool on = !strcmp(word, "on");

    *out = (struct process_settings){ .given = true, .enabled = on, .period_us = period_us };
    return (on || !strcmp(word, "off")) &&
           (!period_us || (period_us >= FEED_PERIOD_MIN_US && period_us <= FEED_PERIOD_MAX_US));
}

static bool read_process(const char *line, bool same_boot, struct settings_lists *lists)
{
    struct kept_process one;
    char word[4];
    uint32_t period_us;
    int end = 0;

    if (sscanf(line, "process %" SCNd32 " %" SCNu64 " %3s %" SCNu32 "%n", &one.pid, &one.start,
               word, &period_us, &end) < 4 ||
        line[end] || one.pid <= 0 || !read_switch(word, period_us, &one.settings))
        return false;
    if (same_boot && process_start(one.pid) == one.start &&
        lists->process_count < KEPT_PROCESSES_MAX)
        lists->processes[lists->process_count++] = one;
    return true;
}

static bool read_program(const char *line, struct settings_lists *lists)
{
    struct kept_program *one = &lists->programs[lists->program_count];
    char word[4];
    uint32_t period_us;
    int end = 0;

    if (lists->program_count == KEPT_PROGRAMS_MAX ||
        sscanf(line, "program %3s %" SCNu32 "%n", word, &period_us, &end) < 2 || line[end] != ' ' ||
        !line[end + 1] || strlen(line + end + 1) >= sizeof(one->name) ||
        !read_switch(word, period_us, &one->settings))
        return false;
    snprintf(one->name, sizeof(one->name), "%s", line + end + 1);
    lists->program_count++;
    return true;
}

int settings_file_read(const char *path, struct settings_lists *lists)
{
    char line[LINE_BYTES], boot[BOOT_BYTES];
    bool same_boot = false, good;
    int number = 0, wrong = 0;
    FILE *file = fopen(path, "re");

    if (!file)
        return -1;
    read_boot(boot);
    while (fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        if (++number == 1) {
            good = !strncmp(line, HEAD, strlen(HEAD));
            same_boot = good && !strcmp(line + strlen(HEAD), boot);
        } else
            good = !strncmp(line, "process ", 8) ? read_process(line, same_boot, lists)
                                                 : read_program(line, lists);
        if (!good && !wrong)
            wrong = number;
    }
    fclose(file);
    return wrong;
}

static const char *switch_of(const struct process_settings *settings)
{
    return settings->enabled ? "on" : "off";
}

static void put(FILE *file, const struct settings_lists *lists)
{
    char boot[BOOT_BYTES];

    read_boot(boot);
    fprintf(file, HEAD "%s\n", boot);
    for (size_t i = 0; i < lists->process_count; i++) {
        const struct kept_process *one = &lists->processes[i];

        fprintf(file, "process %" PRId32 " %" PRIu64 " %s %" PRIu32 "\n", one->pid, one->start,
                switch_of(&one->settings), one->settings.period_us);
    }
    for (size_t i = 0; i < lists->program_count; i++) {
        const struct kept_program *one = &lists->programs[i];

        fprintf(file, "program %s %" PRIu32 " %s\n", switch_of(&one->settings),
                one->settings.period_us, one->name);
    }
}

int settings_file_write(const char *path, const struct settings_lists *lists)
{
    char fresh[PATH_MAX];
    FILE *file;
    int problem;

    snprintf(fresh, sizeof(fresh), "%s.new", path);
    unlink(fresh); /* of a service that was killed */
    file = fopen(fresh, "wxe");
    if (!file)
        return -1;
    put(file, lists);
    problem = ferror(file) ? EIO : 0;
    if (fclose(file) != 0)
        problem = errno;
    if (!problem && rename(fresh, path) == 0)
        return 0;
    problem = problem ? problem : errno;
    unlink(fresh);
    errno = problem;
    return -1;
}
