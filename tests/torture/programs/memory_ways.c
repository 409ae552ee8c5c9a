/*
 * memory_ways before|handler|reserved|ends|short - what is hard on who watches allocations.
 *
 *     before     blocks from before any constructor are grown and freed
 *     handler    signal handlers allocate and free
 *     reserved   100 GiB of addresses, some of which become memory
 *     ends       threads end, and leave blocks, which destructors and others free
 *     short      there is no more memory, and the program handles that
 */
#include "torture.h"

#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* ---- before ---- */

enum { EARLY = 64, EARLY_BYTES = 5000 };
static char *early[EARLY];

static void allocate_early(int argc, char **argv, char **environment)
{
    (void)argc, (void)argv, (void)environment;
    for (int i = 0; i < EARLY; i++) {
        early[i] = malloc(EARLY_BYTES);
        memset(early[i], i + 1, EARLY_BYTES);
    }
}

__attribute__((section(".preinit_array"),
               used)) static void (*const first)(int, char **, char **) = allocate_early;

HOT static void before(void)
{
    for (int i = 0; i < EARLY; i++) {
        if (i % 2) {
            early[i] = realloc(early[i], 3 * EARLY_BYTES);
            CHECK(early[i]);
        }
        CHECK(early[i][0] == i + 1 && early[i][EARLY_BYTES - 1] == i + 1);
        free(early[i]);
    }
    for (int i = 0; i < 100000; i++)
        free(memset(malloc(EARLY_BYTES), 1, 100));
}

/* ---- handler ---- */

enum { SIGNALS = 4000 };
static _Atomic int handled;
static _Atomic bool computes, over;

HOT static void handle(int number)
{
    char *place = malloc(1000 + (size_t)handled % 9000);
    char *map = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(place && map != MAP_FAILED);
    place[0] = map[0] = (char)number;
    place = realloc(place, 20000);
    CHECK(place && place[0] == (char)number && munmap(map, 65536) == 0);
    free(place);
    handled++;
}

/* It allocates nothing itself: malloc may not be interrupted by malloc. */
static void *computing(void *unused)
{
    unsigned long state = 88172645463325252ul;

    computes = true;
    while (!over)
        state = burn(state, 100);
    CHECK(state);
    return unused;
}

static void handler(void)
{
    struct sigaction action = { .sa_handler = handle };
    pthread_t thread;

    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, computing, NULL) == 0);
    while (!computes)
        sched_yield();
    for (int i = 0; i < SIGNALS; i++) {
        int before_it = handled;

        CHECK(pthread_kill(thread, SIGUSR1) == 0);
        free(memset(malloc(3000), 1, 100));
        while (handled == before_it)
            sched_yield();
    }
    over = true;
    CHECK(pthread_join(thread, NULL) == 0 && handled == SIGNALS);
}

/* ---- reserved ---- */

enum { PIECES = 256, PIECE = 1 << 20 };

HOT static void reserved(void)
{
    const size_t reserve = (size_t)100 << 30;
    char *addresses =
        mmap(NULL, reserve, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    CHECK(addresses != MAP_FAILED);
    for (size_t i = 0; i < PIECES; i++) {
        char *piece = addresses + i * (reserve / PIECES);

        CHECK(mprotect(piece, PIECE, PROT_READ | PROT_WRITE) == 0);
        piece[0] = piece[PIECE - 1] = (char)i;
        free(memset(malloc(PIECE / 2), 1, 4096));
    }
    for (size_t i = 0; i < PIECES; i++)
        CHECK(addresses[i * (reserve / PIECES)] == (char)i);
    CHECK(munmap(addresses, reserve) == 0);
}

/* ---- ends ---- */

enum { ENDING = 400, LEFT = 200 };
static pthread_key_t key;
static char *left[ENDING][LEFT];
static _Atomic int ended;

static void at_end(void *given)
{
    char *last = malloc(2000); /* a thread's last acts */

    CHECK(last);
    free(last);
    free(given);
    ended++;
}

HOT static void leave(char **blocks)
{
    for (int i = 0; i < LEFT; i++) {
        blocks[i] = malloc(500 + (size_t)i * 20);
        CHECK(blocks[i]);
        blocks[i][0] = (char)i;
    }
}

static void *ending(void *blocks)
{
    CHECK(pthread_setspecific(key, malloc(3000)) == 0);
    leave(blocks);
    return NULL;
}

static void ends(void)
{
    CHECK(pthread_key_create(&key, at_end) == 0);
    for (int i = 0; i < ENDING; i += 4) {
        pthread_t threads[4];

        for (int n = 0; n < 4; n++)
            CHECK(pthread_create(&threads[n], NULL, ending, left[i + n]) == 0);
        for (int n = 0; n < 4; n++)
            CHECK(pthread_join(threads[n], NULL) == 0);
    }
    CHECK(ended == ENDING);
    for (int i = 0; i < ENDING; i++)
        for (int n = 0; n < LEFT; n++) {
            CHECK(left[i][n][0] == (char)n);
            free(left[i][n]);
        }
}

/* ---- short ---- */

enum { BLOCKS = 4096, BLOCK = 1 << 20 };
static char *blocks[BLOCKS];

HOT static int fill_up(void)
{
    int count = 0;

    errno = 0;
    while (count < BLOCKS && (blocks[count] = malloc(BLOCK)))
        blocks[count++][0] = 1;
    return count;
}

/* A sampled allocation leaves errno as it is. */
static void short_of_memory(void)
{
    const struct rlimit limit = { (rlim_t)600 << 20, (rlim_t)600 << 20 };
    volatile size_t too_many = SIZE_MAX / 2;
    char *grown;
    void *place = early;

    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    for (int round = 0; round < 20; round++) {
        int count = fill_up();

        CHECK(count > 50 && count < BLOCKS && errno == ENOMEM);
        errno = 0;
        grown = realloc(blocks[0], (size_t)1 << 40);
        CHECK(!grown && errno == ENOMEM && blocks[0][0] == 1);
        CHECK(!calloc(too_many, 3) && errno == ENOMEM);
        CHECK(!reallocarray(blocks[0], too_many, 3) && blocks[0][0] == 1);
        CHECK(posix_memalign(&place, 64, (size_t)1 << 40) == ENOMEM && place == (void *)early);
        CHECK(mmap(NULL, (size_t)1 << 40, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                   0) == MAP_FAILED &&
              errno == ENOMEM);
        errno = 123;
        while (count > 0)
            free(blocks[--count]);
        CHECK(errno == 123);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *word;
        void (*run)(void);
    } ways[] = { { "before", before },
                 { "handler", handler },
                 { "reserved", reserved },
                 { "ends", ends },
                 { "short", short_of_memory } };

    begin();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (argc > 1 && !strcmp(argv[1], ways[i].word)) {
            ways[i].run();
            spin(50);
            return fine();
        }
    return STATUS_CHECK_FAILED;
}
