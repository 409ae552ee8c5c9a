#include "process_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void process_program(char out[FEED_EXE_BYTES], pid_t pid)
{
    char path[32];
    ssize_t length;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/exe", pid);
    length = readlink(path, out, FEED_EXE_BYTES - 1);
    out[length > 0 ? length : 0] = '\0';
    if (length > 0)
        return;
    /* Another user's: its short name is for everybody. */
    snprintf(path, sizeof(path), "/proc/%d/comm", pid);
    file = fopen(path, "re");
    if (file && fgets(out, FEED_EXE_BYTES, file))
        out[strcspn(out, "\n")] = '\0';
    if (file)
        fclose(file);
}

uint64_t process_start(pid_t pid)
{
    char path[32], line[1024];
    const char *name_end;
    uint64_t start = 0;
    size_t length;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    file = fopen(path, "re");
    length = file ? fread(line, 1, sizeof(line) - 1, file) : 0;
    if (file)
        fclose(file);
    line[length] = '\0';
    /* The name, in parentheses, may hold any bytes. The start is the 22nd word, and the name the
     * second. */
    name_end = strrchr(line, ')');
    if (!name_end || sscanf(name_end + 1,
                            " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                            "%*s %*s %" SCNu64,
                            &start) != 1)
        return 0;
    return start;
}

static int64_t us_of(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t process_start_us(uint64_t start)
{
    /* CLOCK_BOOTTIME, which goes on while the machine is suspended. */
    return (int64_t)start * (1000000 / sysconf(_SC_CLK_TCK)) -
           (us_of(CLOCK_BOOTTIME) - us_of(CLOCK_MONOTONIC));
}
