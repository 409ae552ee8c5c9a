/*
 * memory_storm SECONDS - eight threads allocate, grow and free, each other's memory too; now and then one of them
 * forks, and the child frees what its parent allocated, or loads a library and lets it go. What was written into a
 * block stays in it. At the end nothing is left.
 */
#include "torture.h"

#include <dlfcn.h>
#include <stdint.h>

enum {
    THREADS = 8,
    SHARED = 4096,
    BATCH = 512,     /* operations between two looks at the clock */
    FORK_EVERY = 64, /* batches of a thread */
    LOAD_EVERY = 8,
    IN_CHILD = 256,
};

/* The first and the last byte of a block say what it is. */
struct block {
    size_t bytes;
    unsigned char mark;
    unsigned char content[];
};

static struct block *shared[SHARED];
static double end_s;
static _Atomic unsigned long operations, forks, loads;

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void fill(struct block *block, size_t bytes, unsigned long state)
{
    block->bytes = bytes;
    block->mark = (unsigned char)(state >> 8);
    block->content[0] = block->content[bytes - 1] = block->mark;
}

static void check(const struct block *block)
{
    CHECK(block->content[0] == block->mark && block->content[block->bytes - 1] == block->mark);
}

static size_t size_of(unsigned long state)
{
    size_t most = (state & 63) == 0 ? 300000 : (state & 7) == 0 ? 8000 : 300;

    return 1 + (state >> 16) % most;
}

HOT static struct block *storm_block(unsigned long state)
{
    size_t bytes = size_of(state), whole = sizeof(struct block) + bytes;
    struct block *block = NULL;

    switch (state >> 8 & 3) {
    case 0:
        block = calloc(1, whole);
        CHECK(block && block->bytes == 0 && block->content[bytes / 2] == 0);
        break;
    case 1:
        CHECK(posix_memalign((void **)&block, 64, whole) == 0 && (uintptr_t)block % 64 == 0);
        break;
    default:
        block = malloc(whole);
    }
    CHECK(block);
    fill(block, bytes, state);
    return block;
}

HOT static struct block *storm_grow(struct block *block, unsigned long state)
{
    size_t bytes = size_of(state), before = block->bytes;
    unsigned char first = block->content[0];

    block = realloc(block, sizeof(struct block) + bytes);
    CHECK(block && block->content[0] == first);
    CHECK(bytes < before || block->content[before - 1] == first);
    fill(block, bytes, state);
    return block;
}

/* Its block goes to whoever comes by next. */
static unsigned long step(unsigned long state)
{
    struct block **place, *other;

    state = burn(state, 1);
    place = &shared[state >> 40 & (SHARED - 1)];
    other = __atomic_exchange_n(place, NULL, __ATOMIC_ACQ_REL);
    if (other)
        check(other);
    if (!other)
        other = storm_block(state);
    else if (state & 1 << 20)
        other = storm_grow(other, state);
    else {
        free(other);
        return state;
    }
    other = __atomic_exchange_n(place, other, __ATOMIC_ACQ_REL);
    free(other);
    return state;
}

static void in_child(unsigned long state)
{
    struct block *own[IN_CHILD];

    for (int i = 0; i < IN_CHILD; i++) {
        struct block *parents = __atomic_exchange_n(&shared[i], NULL, __ATOMIC_ACQ_REL);

        own[i] = storm_block(state = burn(state, 1));
        if (parents) {
            check(parents);
            if (i % 4 == 0)
                parents = storm_grow(parents, state);
            free(parents);
        }
    }
    for (int i = 0; i < IN_CHILD; i++) {
        check(own[i]);
        free(own[i]);
    }
    _exit(7);
}

static void fork_once(unsigned long state)
{
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0)
        in_child(state);
    CHECK(ends_with(pid, 7));
    forks++;
}

static void load_once(void)
{
    void *library = dlopen("plugin_0.so", RTLD_NOW);
    int (*value)(int) = library ? (int (*)(int))dlsym(library, "plugin_value") : NULL;

    CHECK(value && value(5) == 105 && dlclose(library) == 0);
    loads++;
}

static void *storm(void *unused)
{
    static _Atomic unsigned seed = 1;
    unsigned number = seed++;
    unsigned long state = number * 2654435761ul + 88172645463325252ul;

    for (unsigned batch = number; now_s() < end_s; batch++) {
        for (int i = 0; i < BATCH; i++)
            state = step(state);
        operations += BATCH;
        if (batch % FORK_EVERY == 0)
            fork_once(state);
        if (batch % LOAD_EVERY == 0)
            load_once();
    }
    return unused;
}

int main(int argc, char **argv)
{
    begin();
    end_s = now_s() + (argc > 1 ? atof(argv[1]) : 2);
    run_threads(THREADS, storm, NULL);
    for (int i = 0; i < SHARED; i++) {
        if (shared[i])
            check(shared[i]);
        free(shared[i]);
    }
    printf("%lu operations, %lu forks, %lu loads\n", operations, forks, loads);
    return fine();
}
