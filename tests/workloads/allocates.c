/* allocates.c - allocations of known sizes at known places (test_memory.py).
 *
 *   allocates sites|leaks|threads|realloc|forks|maps|holds
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACE static __attribute__((noinline))

/* The compiler must not know what becomes of it. */
static void *used(void *place)
{
    __asm__ volatile("" : "+r"(place) : : "memory");
    return place;
}

/* ---- sites: 64 MB of small ones, 256 MB of rows, 128 MB of large ones ---- */

PLACE void *small_one(void)
{
    return used(malloc(64));
}

PLACE void *row(void)
{
    return used(calloc(8, 128));
}

PLACE void *large_one(void)
{
    return used(malloc(512 * 1024));
}

static void sites(void)
{
    for (int i = 0; i < 250000; i++) {
        for (int n = 0; n < 4; n++)
            free(small_one());
        free(row());
    }
    for (int i = 0; i < 250; i++)
        free(large_one());
}

/* ---- leaks: twenty places, each of which loses 8 MB, beside one that gives all back ---- */

static void *lost[20 * 2048];
static int lost_count;

#define LEAK(number)                                                                               \
    PLACE void leak_##number(void)                                                                 \
    {                                                                                              \
        __asm__ volatile("" : : "i"(number)); /* or they would be one function */                  \
        lost[lost_count++] = used(malloc(4096));                                                   \
    }
#define FIRST_LEAKS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)
#define OTHER_LEAKS(X) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19)
FIRST_LEAKS(LEAK)
OTHER_LEAKS(LEAK)

static void leaks(void)
{
#define CALL(number) leak_##number();
    for (int i = 0; i < 2048; i++) {
        FIRST_LEAKS(CALL)
        OTHER_LEAKS(CALL)
        for (int n = 0; n < 20; n++)
            free(row());
    }
}

/* ---- threads: what one gets, another gives back; the last blocks outlive their thread ---- */

enum { BLOCKS = 4096 };
static void *blocks[BLOCKS];

static void *gets(void *unused)
{
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = row();
    return unused;
}

static void threads(void)
{
    for (int round = 0; round < 16; round++) {
        pthread_t thread;

        pthread_create(&thread, NULL, gets, NULL);
        pthread_join(thread, NULL);
        for (int i = round < 15 ? 0 : BLOCKS / 2; i < BLOCKS; i++)
            free(blocks[i]);
    }
}

/* ---- realloc: grows to 1 MB again and again; the last one stays ---- */

PLACE void *grow(void *place, size_t bytes)
{
    return used(realloc(place, bytes));
}

static void reallocs(void)
{
    for (int round = 0; round < 16; round++) {
        char *place = NULL;

        for (size_t kib = 16; kib <= 1024; kib += 16)
            place = grow(place, kib * 1024);
        if (round < 15)
            free(place);
        else
            lost[0] = place;
    }
}

/* ---- forks: the child gives back what its parent got, and loses its own ---- */

static void forks(void)
{
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = row();
    if (fork() == 0) {
        for (int i = 0; i < BLOCKS; i++)
            free(blocks[i]);
        for (int i = 0; i < 64; i++)
            lost[i] = large_one();
        sites();
        _exit(7);
    }
    wait(NULL);
}

/* ---- maps: 64 MB by mmap, half of it given back; 100 GB of addresses ---- */

PLACE void *map_one(void)
{
    return used(mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static void maps(void)
{
    void *addresses =
        mmap(NULL, 100ul << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    for (int i = 0; i < 64; i++) {
        void *map = map_one();

        if (i % 2)
            munmap(map, 1 << 20);
    }
    sites();
    printf("%d\n", addresses != MAP_FAILED);
}

/* ---- holds: until its standard input ends, with a line before and after each step ---- */

static void holds(void)
{
    char line[16];

    while (fgets(line, sizeof line, stdin)) {
        for (int i = 0; i < 2048; i++)
            leak_0();
        lost_count = 0;
        sites();
        puts("done");
        fflush(stdout);
    }
}

int main(int count, char **words)
{
    static const struct {
        const char *word;
        void (*run)(void);
    } ways[] = { { "sites", sites },      { "leaks", leaks }, { "threads", threads },
                 { "realloc", reallocs }, { "forks", forks }, { "maps", maps },
                 { "holds", holds } };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (count > 1 && !strcmp(words[1], ways[i].word))
            ways[i].run();
    return 0;
}
