/*
 * consumer.c - a program that uses an installed isoscope, and says what became of it: "alone" or
 * "sampled", and how many copies of the library are in the process.
 */
#ifdef OPTIONAL
#include <isoscope/optional.h>
#else
#include <isoscope/isoscope.h>
#endif

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { DEADLINE_S = 60, PATH_BYTES = 1024 };

static int copies(void)
{
    char line[PATH_BYTES], last[PATH_BYTES] = "";
    FILE *maps = fopen("/proc/self/maps", "r");
    int count = 0;

    while (maps && fgets(line, sizeof line, maps)) {
        char *path = strchr(line, '/');

        if (!path || !strstr(path, "/libisoscope.so") || !strcmp(path, last))
            continue;
        strcpy(last, path);
        count++;
    }
    if (maps)
        fclose(maps);
    return count;
}

static int is_sampled(void)
{
    time_t end = time(NULL) + DEADLINE_S;

    while (isoscope_sample_count() == 0 && time(NULL) < end)
        continue;
    return isoscope_sample_count() > 0;
}

int main(void)
{
    int error = isoscope_thread_register("consumer");

    isoscope_tag_push("busy");
    if (error == -ISOSCOPE_NO_SERVICE)
        printf("alone, copies: %d\n", copies());
    else
        printf("%s, copies: %d\n", is_sampled() ? "sampled" : "not sampled", copies());
    isoscope_tag_pop();
    isoscope_thread_unregister();
    return 0;
}
