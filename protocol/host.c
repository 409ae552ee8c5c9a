#include "host.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The text behind "name ...:" in a file of such lines; false when there is none. */
static int read_field(const char *path, const char *name, char *out, size_t size)
{
    char line[512];
    FILE *file = fopen(path, "re");
    int found = 0;

    while (file && !found && fgets(line, sizeof(line), file)) {
        const char *colon = strchr(line, ':');

        if (!colon || strncmp(line, name, strlen(name)))
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(out, size, "%.*s", (int)strcspn(colon, "\n"), colon);
        found = 1;
    }
    if (file)
        fclose(file);
    return found;
}

void host_cpu(char *out, size_t size)
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

struct host_memory host_memory(int32_t pid)
{
    return (struct host_memory){
        .rss_bytes = status_bytes(pid, "VmRSS"),
        .rss_max_bytes = status_bytes(pid, "VmHWM"),
        .own_bytes = status_bytes(pid, "RssAnon"),
        .reserved_bytes = status_bytes(pid, "VmData") + status_bytes(pid, "VmStk"),
    };
}
