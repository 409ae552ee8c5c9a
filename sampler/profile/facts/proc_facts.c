#include "proc_facts.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text behind "name ...:" in a file of such lines; false when there is none. */
static bool read_field(const char *path, const char *name, char *out, size_t size)
{
    char line[512];
    FILE *file = fopen(path, "re");
    bool found = false;

    while (file && !found && fgets(line, sizeof(line), file)) {
        const char *colon = strchr(line, ':');

        if (!colon || strncmp(line, name, strlen(name)))
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(out, size, "%.*s", (int)strcspn(colon, "\n"), colon);
        found = true;
    }
    if (file)
        fclose(file);
    return found;
}

void proc_cpu(char *out, size_t size)
{
    if (!read_field("/proc/cpuinfo", "model name", out, size))
        snprintf(out, size, "unknown");
}

static int64_t status_bytes(int32_t pid, const char *name)
{
    char path[40], text[32];
    int64_t kib = 0;

    snprintf(path, sizeof(path), "/proc/%" PRId32 "/status", pid);
    if (!read_field(path, name, text, sizeof(text)) || sscanf(text, "%" SCNd64, &kib) != 1)
        return 0;
    return kib * 1024;
}

struct process_memory proc_memory(int32_t pid)
{
    return (struct process_memory){
        .rss_bytes = status_bytes(pid, "VmRSS"),
        .rss_max_bytes = status_bytes(pid, "VmHWM"),
        .own_bytes = status_bytes(pid, "RssAnon"),
        .reserved_bytes = status_bytes(pid, "VmData") + status_bytes(pid, "VmStk"),
    };
}

/* "55d0-55d4 r-xp 0001 08:01 42   /usr/bin/cat": true, and what is behind. */
static bool is_header(const char *line, const char **path)
{
    uint64_t start, end;
    int at = 0;

    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", &start, &end, &at) < 2 || !at)
        return false;
    *path = line + at;
    return true;
}

void proc_mappings(const char *smaps, mapping_found found, void *context)
{
    FILE *file = fopen(smaps, "re");
    char *line = NULL, *owner = NULL;
    size_t size = 0;
    ssize_t length;

    while (file && (length = getline(&line, &size, file)) > 0) {
        const char *path;
        uint64_t kib;

        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        if (is_header(line, &path)) {
            free(owner);
            owner = strdup(path);
        } else if (owner && sscanf(line, "Rss: %" SCNu64 " kB", &kib) == 1) {
            found(context, owner, kib * 1024);
        }
    }
    free(owner);
    free(line);
    if (file)
        fclose(file);
}
