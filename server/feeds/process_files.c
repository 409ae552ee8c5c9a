#include "process_files.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
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

enum { FLAGS = 9, START = 22, SIGNALS = 31, EXITING = 4 }; /* the last is the kernel's PF_EXITING */

struct stat_line {
    char text[1024];
};

/* Behind the name, the second word, which is in parentheses and may hold any bytes. "": it is gone. */
static const char *read_stat(struct stat_line *out, pid_t pid)
{
    char path[32];
    const char *name_end;
    size_t length;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    file = fopen(path, "re");
    length = file ? fread(out->text, 1, sizeof(out->text) - 1, file) : 0;
    if (file)
        fclose(file);
    out->text[length] = '\0';
    name_end = strrchr(out->text, ')');
    return name_end ? name_end + 1 : "";
}

/* number: as the manual page counts them, from 3 on. */
static uint64_t word_of(const char *words, unsigned number)
{
    for (unsigned word = 3; *words && word <= number; word++) {
        words += strspn(words, " ");
        if (word == number)
            return strtoull(words, NULL, 10);
        words += strcspn(words, " ");
    }
    return 0;
}

uint64_t process_start(pid_t pid)
{
    struct stat_line line;

    return word_of(read_stat(&line, pid), START);
}

/* Who is killed has SIGKILL pending until he runs, whichever signal it was. */
bool process_is_dying(pid_t pid)
{
    struct stat_line line;
    const char *words = read_stat(&line, pid);

    return !*words || word_of(words, FLAGS) & EXITING ||
           word_of(words, SIGNALS) & (1u << (SIGKILL - 1));
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
