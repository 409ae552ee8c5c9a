/* tasks.h - what the kernel says of each thread of this process. */
#ifndef TASKS_H
#define TASKS_H

#include "torture.h"

#include <dirent.h>
#include <sys/syscall.h>

/* The line of /proc/self/task/<tid>/status, "" when the thread has ended. */
static inline void status_line(const char *tid, const char *label, char line[256])
{
    char path[300];
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%s/status", tid);
    file = fopen(path, "re");
    line[0] = 0;
    while (file && fgets(line, 256, file) && strncmp(line, label, strlen(label)))
        line[0] = 0;
    if (file)
        fclose(file);
}

/* Every thread has the rights of the calling one: nobody's were forgotten. Without /proc: no check.
 */
static inline void tasks_are_alike(bool needs_proc)
{
    static const char *const labels[] = { "Uid:",    "Gid:",    "Groups:", "CapInh:",
                                          "CapPrm:", "CapEff:", "CapBnd:", "NoNewPrivs:" };
    DIR *tasks = opendir("/proc/self/task");
    char own[24], mine[256], its[256];

    CHECK(tasks || !needs_proc);
    if (!tasks)
        return;
    snprintf(own, sizeof own, "%ld", syscall(SYS_gettid));
    for (struct dirent *task; (task = readdir(tasks));)
        for (size_t i = 0; task->d_name[0] != '.' && i < sizeof labels / sizeof labels[0]; i++) {
            status_line(own, labels[i], mine);
            status_line(task->d_name, labels[i], its);
            if (its[0] && strcmp(its, mine))
                dprintf(STDERR_FILENO, "task %s has %stask %s has %s", own, mine, task->d_name,
                        its);
            CHECK(!its[0] || !strcmp(its, mine));
        }
    closedir(tasks);
}

#endif
