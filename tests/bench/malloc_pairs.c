/* malloc_pairs.c - nanoseconds of a malloc and its free, the best of five rounds.
 *
 *   malloc_pairs BYTES PAIRS THREADS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 5, THREADS_MAX = 64 };

static size_t bytes;
static long pairs;

static void *work(void *unused)
{
    for (long i = 0; i < pairs; i++) {
        void *place = malloc(bytes);

        __asm__ volatile("" : "+r"(place) : : "memory");
        free(place);
    }
    return unused;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int count, char **words)
{
    int threads = count > 3 ? atoi(words[3]) : 1;
    pthread_t list[THREADS_MAX];
    double best = 1e9, began;

    if (count < 3 || threads < 1 || threads > THREADS_MAX)
        return 2;
    bytes = (size_t)atol(words[1]);
    pairs = atol(words[2]);
    for (int round = 0; round < ROUNDS; round++) {
        began = seconds();
        if (threads == 1)
            work(NULL);
        for (int i = 0; threads > 1 && i < threads; i++)
            pthread_create(&list[i], NULL, work, NULL);
        for (int i = 0; threads > 1 && i < threads; i++)
            pthread_join(list[i], NULL);
        if (seconds() - began < best)
            best = seconds() - began;
    }
    printf("%.3f\n", best / (double)pairs * 1e9);
    return 0;
}
