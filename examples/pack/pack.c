/*
 * pack.c - a program to profile: it reads source files, and finds out how small they can be packed.
 *
 *     isoscope run --keep -- build/examples/pack FOLDER...
 *
 * Four threads at once: two pack and unpack the text at several efforts, one counts words and
 * groups of words, one sorts all places of the text to find what is said twice. Nothing in it
 * knows of isoscope. Its work is the same in each run.
 */
#include "lz.h"
#include "passages.h"
#include "sources.h"
#include "words.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 3, SHOWN_BYTES = 40 };

static const unsigned efforts[] = { 4, 8, 16, 32, 64, 128, 256, 512, 1024 };

enum { EFFORTS = sizeof(efforts) / sizeof(efforts[0]) };

/* Read by all threads; each writes its own results, which main prints when they have ended. */
static struct sources sources;
static size_t packed_bytes[EFFORTS];
static struct words words[GROUPS];
static const char *said, *again;
static size_t said_bytes;

static void *allocate(size_t size)
{
    void *memory = malloc(size);

    if (!memory)
        abort();
    return memory;
}

static void check_unpacked(const char *packed, size_t size)
{
    char *text = allocate(sources.size);

    if (lz_unpack(text, packed, size) != sources.size || memcmp(text, sources.text, sources.size))
        abort();
    free(text);
}

static void pack(unsigned number)
{
    char *packed = allocate(lz_bound(sources.size));

    packed_bytes[number] = lz_pack(packed, sources.text, sources.size, efforts[number]);
    check_unpacked(packed, packed_bytes[number]);
    free(packed);
}

static void *pack_lightly(void *unused)
{
    for (unsigned i = 0; i < EFFORTS - 1; i++)
        pack(i);
    return unused;
}

static void *pack_hard(void *unused)
{
    pack(EFFORTS - 1);
    return unused;
}

static void *count_words(void *unused)
{
    for (unsigned i = 0; i < GROUPS; i++) {
        words_count(&words[i], sources.text, sources.size, i + 1);
        words_commonest(&words[i]);
    }
    return unused;
}

static void *find_passage(void *unused)
{
    said_bytes = passages_longest(sources.text, sources.size, &said, &again);
    return unused;
}

static void run_threads(void)
{
    static const struct {
        const char *name;
        void *(*body)(void *);
    } jobs[] = { { "pack lightly", pack_lightly },
                 { "pack hard", pack_hard },
                 { "words", count_words },
                 { "passages", find_passage } };
    enum { JOBS = sizeof(jobs) / sizeof(jobs[0]) };
    pthread_t threads[JOBS];

    for (int i = 0; i < JOBS; i++) {
        if (pthread_create(&threads[i], NULL, jobs[i].body, NULL) != 0)
            abort();
        pthread_setname_np(threads[i], jobs[i].name);
    }
    for (int i = 0; i < JOBS; i++)
        pthread_join(threads[i], NULL);
}

static int line_of(const char *place)
{
    int line = 1;

    for (const char *at = sources.text; at < place; at++)
        line += *at == '\n';
    return line;
}

/* Up to the line's end. */
static int shown_bytes(const char *place)
{
    int count = 0;

    while (count < SHOWN_BYTES && place[count] != '\n')
        count++;
    return count;
}

static void print_results(void)
{
    printf("%u files, %.1f MB\n", sources.file_count, (double)sources.size / 1e6);
    for (int i = 0; i < EFFORTS; i++)
        printf("packed with effort %4u: %4.1f %%\n", efforts[i],
               100.0 * (double)packed_bytes[i] / (double)sources.size);
    for (int i = 0; i < GROUPS; i++)
        if (words[i].used)
            printf("words in groups of %d: %zu, most often (%u) \"%.*s\"\n", i + 1, words[i].used,
                   words[i].slots[0].count, (int)words[i].slots[0].length, words[i].slots[0].text);
    if (said_bytes)
        printf("said twice, %zu bytes, in lines %d and %d: \"%.*s ...\"\n", said_bytes,
               line_of(said), line_of(again), shown_bytes(said), said);
}

int main(int count, char **arguments)
{
    if (count < 2) {
        fprintf(stderr, "usage: %s FOLDER...\n", arguments[0]);
        return 2;
    }
    for (int i = 1; i < count; i++)
        if (sources_read(&sources, arguments[i]) < 0) {
            fprintf(stderr, "pack: %s: %s\n", arguments[i], strerror(errno));
            return 1;
        }
    run_threads();
    print_results();
    for (int i = 0; i < GROUPS; i++)
        words_free(&words[i]);
    free(sources.text);
    return 0;
}
