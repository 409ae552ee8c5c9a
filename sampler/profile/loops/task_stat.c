#include "task_stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "TID (NAME) LETTER" and numbers, of which the ninth is majflt. Any byte of a name may be ')'. */
bool task_stat_parse(const char *text, struct task_stat *out)
{
    const char *end = strrchr(text, ')');
    unsigned long long faults;
    char letter;

    if (!end || sscanf(end + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %llu", &letter, &faults) != 2)
        return false;
    *out = (struct task_stat){ letter, faults };
    return true;
}

int32_t task_tracer_parse(const char *status)
{
    static const char key[] = "\nTracerPid:";
    const char *line = strstr(status, key);

    return line ? atoi(line + sizeof(key) - 1) : 0;
}
