/* Four threads write lines to one stream; afterwards each line is there, and whole. */
#include "torture.h"

enum { THREADS = 4, LINES = 120000 };

static FILE *file;
static _Atomic int next;

static void *writer(void *unused)
{
    int me = next++;

    for (int i = 0; i < LINES; i++)
        CHECK(fprintf(file, "thread %d line %d end\n", me, i) > 0);
    return unused;
}

int main(void)
{
    int counts[THREADS] = { 0 };
    int thread, line;
    char end[8];

    begin();
    file = tmpfile();
    CHECK(file);
    run_threads(THREADS, writer, NULL);
    rewind(file);
    while (fscanf(file, "thread %d line %d %7s\n", &thread, &line, end) == 3)
        CHECK(thread >= 0 && thread < THREADS && line == counts[thread]++ && !strcmp(end, "end"));
    for (int i = 0; i < THREADS; i++)
        CHECK(counts[i] == LINES);
    CHECK(feof(file) && fclose(file) == 0);
    return fine();
}
