/* lock_pairs.c - nanoseconds of a lock and its unlock, the best of five rounds.
 *
 *   lock_pairs PAIRS THREADS     threads: all at one lock, with 100 ns of work in it
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 5, THREADS_MAX = 64, WORK = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long pairs;
static int threads;

static void *work(void *unused)
{
    for (long i = 0; i < pairs; i++) {
        pthread_mutex_lock(&lock);
        for (int n = 0; threads > 1 && n < WORK; n++)
            __asm__ volatile("");
        pthread_mutex_unlock(&lock);
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
    pthread_t list[THREADS_MAX];
    double best = 1e9, began;

    threads = count > 2 ? atoi(words[2]) : 1;
    if (count < 2 || threads < 1 || threads > THREADS_MAX)
        return 2;
    pairs = atol(words[1]) / threads;
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
    printf("%.3f\n", best / (double)(pairs * threads) * 1e9);
    return 0;
}
